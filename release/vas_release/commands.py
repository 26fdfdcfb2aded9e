"""The command `vas release`: builds what a site installs from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from vas_ansible.archives import PYTHON
from vas_core.cli import json_option, note, print_json
from vas_core.errors import NotHere
from vas_core.progress import Step, Steps
from vas_core.repository import REPOSITORY
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_release.artefact import Artefact
from vas_release.parts import DEPENDENCIES, all_parts, chosen_parts, lacking
from vas_release.release import SUMS, ListedFile, check_new, make_release
from vas_release.source import ReleaseSource

_LEARNED = REPOSITORY / "build/release-seconds.json"


@click.command()
@click.option(
    "--out",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    required=True,
    help="Directory of the release; new or empty.",
)
@click.option(
    "--only",
    metavar="PART",
    multiple=True,
    help="A part to build, such as wheel or hadoop (--dry-run lists them); give several.",
)
@click.option(
    "--with-dependencies",
    is_flag=True,
    help="Add the wheels of Python's libraries, from the package index, by the locks' sums.",
)
@click.option(
    "--python",
    "pythons",
    metavar="3.N",
    multiple=True,
    default=[PYTHON],
    show_default=True,
    help="Python version that the libraries are for; give several.",
)
@click.option("--uncommitted", is_flag=True, help="Build from files that are not committed, too.")
@click.option("--dry-run", is_flag=True, help="List the files that would be made, and make none.")
@json_option
def release(
    directory: Path,
    only: tuple[str, ...],
    with_dependencies: bool,
    pythons: tuple[str, ...],
    uncommitted: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Build the files that a site installs VAS from (docs/release.md).

    Wheel, plugins, Hadoop's jars, vas-shuffled, packages (deb, rpm), Ansible collection, man pages,
    pages and source of one commit; SHA256SUMS over all, and a bill of materials of each. Equal
    commits give equal bytes. Without --only the script ./vas builds the plugins and vas-shuffled
    first.

    \b
    Examples: ./vas release --out build/release --dry-run
              ./vas release --out build/release --with-dependencies

    \f
    Raises NotHere outside of a clone, or for a part that is not built, BadInput for a directory
    that is not empty.
    """
    if not (REPOSITORY / ".git").exists():
        raise NotHere("a release is made in a git clone", hint="run ./vas release in one")
    asked = {DEPENDENCIES} if with_dependencies else set()
    parts = _possible(chosen_parts(all_parts(pythons), only, asked), only)
    check_new(directory)
    source = ReleaseSource.of(REPOSITORY, uncommitted=uncommitted)
    if dry_run:
        _show_plan(source, parts, as_json=as_json)
        return
    with Steps.show([Step(p.name, p.expected_seconds) for p in parts], _LEARNED) as steps:
        files = make_release(source, parts, directory.absolute(), steps.step)
    _show(source, directory, files, as_json=as_json)


def _possible(parts: Sequence[Artefact], only: Sequence[str]) -> list[Artefact]:
    """Leaves out the parts that no program here makes, and says so.

    Raises NotHere for one that was asked for by name.
    """
    missing = lacking(parts)
    for name, program in missing.items():
        if name in only:
            hint = "install it (docs/packages.md), or make this part on another machine"
            raise NotHere(f"{program} makes it, and is not here", where=name, hint=hint)
        note(f"no {name}: {program}, which makes it, is not here")
    return [part for part in parts if part.name not in missing]


def _show_plan(source: ReleaseSource, parts: Sequence[Artefact], *, as_json: bool) -> None:
    rows = [(part.name, part.file_name(source.version), part.what) for part in parts]
    if as_json:
        keys = ("part", "file", "what")
        print_json(_of(source) | {"parts": [dict(zip(keys, row, strict=True)) for row in rows]})
        return
    print_table(("PART", "FILE", "WHAT"), rows)
    note(f"VAS {source.version} of commit {source.commit[:12]}; nothing was built")


def _show(
    source: ReleaseSource, directory: Path, files: Sequence[ListedFile], *, as_json: bool
) -> None:
    if as_json:
        print_json(_of(source) | {"files": [asdict(file) for file in files]})
        return
    size = format_size(sum(file.size_bytes for file in files))
    note(f"{directory}: VAS {source.version}, {len(files)} files, {size}")
    note(f"compare them with `sha256sum --check {SUMS}` there")


def _of(source: ReleaseSource) -> dict[str, object]:
    return {"version": source.version, "commit": source.commit, "epoch": source.epoch}
