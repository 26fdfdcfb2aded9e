"""The command `vas bench disk`."""

from __future__ import annotations

import shlex
import shutil
import socket
import tempfile
from pathlib import Path

import click

from vas_bench.disk.place import check_place
from vas_bench.disk.programs import PROGRAMS, DiskProgram
from vas_cluster import load_cluster, load_site
from vas_core.cli import SizeType, json_option, print_json
from vas_core.errors import NotHere
from vas_core.process import run
from vas_core.root import Root
from vas_core.sizes import format_size
from vas_core.table import print_table

_TIMEOUT_SECONDS = 540.0


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@click.option("--size", type=SizeType(), default="256M", show_default=True, help="File size.")
@click.option(
    "--cluster", "cluster_file", type=click.Path(path_type=Path), help="The map. [$VAS_CLUSTER]"
)
@click.option("--dry-run", is_flag=True, help="Print the commands; write nothing.")
@json_option
def disk(
    directory: Path, size: int, cluster_file: Path | None, dry_run: bool, as_json: bool
) -> None:
    """Write and read a file on this machine's disk.

    Uses IOzone, or fio without it, sequentially and past the page cache, in a directory of its own
    below DIRECTORY that is removed. Storage servers, file systems of others, a device under an OST,
    and a disk without room for four such files are refused.

    \b
    Example: vas bench disk /var/lib/yarn --size 256M

    \f
    Raises BadInput for a place that is refused, NotHere without iozone and fio.
    """
    cluster = load_cluster(cluster_file) if cluster_file else load_site("name it by --cluster")
    check_place(Root(), cluster, socket.gethostname(), directory.resolve(), size)
    program = _program()
    with tempfile.TemporaryDirectory(prefix=".vas-disk-", dir=directory) as own:
        commands = program.commands(f"{own}/file", size)
        if dry_run:
            for command in commands:
                click.echo(shlex.join(command))
            return
        printed = [run(argv, timeout_seconds=_TIMEOUT_SECONDS).stdout for argv in commands]
    found = program.speeds(printed)
    if as_json:
        where = {"program": program.name, "directory": str(directory), "size": format_size(size)}
        speeds = {"write": found.write, "read": found.read}
        print_json(where | {f"{k}_mb_per_second": round(v / 1e6, 1) for k, v in speeds.items()})
        return
    rows = (("write", f"{found.write / 1e6:.1f}"), ("read", f"{found.read / 1e6:.1f}"))
    print_table((program.name.upper(), "MB/S"), rows)


def _program() -> DiskProgram:
    for program in PROGRAMS:
        if shutil.which(program.name):
            return program
    hint = "install the package fio, or iozone3 (of Debian's non-free)"
    raise NotHere("neither iozone nor fio is on PATH", hint=hint)
