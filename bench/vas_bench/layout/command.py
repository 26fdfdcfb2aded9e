"""The command `vas bench layout`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_bench.layout.reading import LayoutRates, files_of, made_files, measure
from vas_bench.statistics.summary import Summary
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
    help="Read files below this directory [default: files made on the Lustre mount].",
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


def _print(found: LayoutRates, as_json: bool) -> None:
    if as_json:
        rates = [{"name": name} | _numbers(it) for name, it in found.rates.items()]
        both = {"files": found.files, "ratio": round(found.ratio, 1)}
        print_json(both | {"layouts_per_second": rates})
        return
    rows = (
        (name, it.n, *(f"{x:.0f}" for x in (it.median, it.lowest, it.highest)), f"{it.spread:.2f}")
        for name, it in found.rates.items()
    )
    print_table(("layouts/s by", "n", "median", "lowest", "highest", "spread"), rows)
    note(f"{counted(found.files, 'file')}: the attribute is {found.ratio:.0f} times faster")


def _numbers(it: Summary) -> dict[str, float]:
    rate = {"n": it.n, "median": it.median, "lowest": it.lowest, "highest": it.highest}
    return rate | {"spread": round(it.spread, 3)}
