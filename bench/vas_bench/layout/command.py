"""The command `vas bench layout`."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from vas_bench.layout.reading import LayoutRates, files_of, made_files, measure
from vas_cluster import default_path, load_cluster
from vas_core.cli import json_option, note, print_json
from vas_core.shown import counted
from vas_core.table import print_table

_USUAL_MOUNT = Path("/lustre")


@click.command()
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Use the files below it [default: files made on the Lustre mount].",
)
@click.option("--files", type=click.IntRange(1), default=50, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@json_option
def layout(directory: Path | None, files: int, rounds: int, as_json: bool) -> None:
    """Time reading layouts by attribute and by `lfs`.

    Layouts per second: the extended attribute against one `lfs` process per file.

    \b
    Example: vas bench layout --dir /lustre/input --rounds 7
    """
    if directory:
        rates = measure(files_of(directory, files), rounds=rounds)
    else:
        with made_files(_mount(), files) as made:
            rates = measure(made, rounds=rounds)
    _print(rates, as_json)


def _mount() -> Path:
    path = default_path()
    return Path(load_cluster(path).lustre.mount) if path.exists() else _USUAL_MOUNT


def _print(rates: LayoutRates, as_json: bool) -> None:
    both = (rates.xattr, rates.lfs)
    if as_json:
        print_json(
            {
                "files": rates.files,
                "ratio": round(rates.ratio, 1),
                "layouts_per_second": [{**asdict(r), "spread": round(r.spread, 3)} for r in both],
            }
        )
        return
    rows = (
        (r.name, r.n, f"{r.median:.0f}", f"{r.lowest:.0f}", f"{r.highest:.0f}", f"{r.spread:.2f}")
        for r in both
    )
    print_table(("layouts/s by", "n", "median", "lowest", "highest", "spread"), rows)
    note(f"{counted(rates.files, 'file')}: the attribute is {rates.ratio:.0f} times faster")
