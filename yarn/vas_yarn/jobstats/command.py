"""`vas job io`: what each application reads and writes at this server's targets of Lustre."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import click

from vas_core.cli import DurationType, json_option, note, print_json
from vas_core.errors import BadInput, NotHere
from vas_core.root import Root
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_yarn.jobstats.counts import TargetIo
from vas_yarn.jobstats.server import read_targets

_ROOT = Root()


@click.command("io")
@click.option(
    "--metrics",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write for Prometheus' node exporter, instead of a table.",
)
@click.option(
    "--every",
    type=DurationType(least_seconds=5),
    help="Time after which the file is written again, until the command is stopped.",
)
@json_option
def show_io(metrics: Path | None, every: int | None, as_json: bool) -> None:
    """Show applications' I/O on this server of Lustre.

    Bytes and requests by OST and MDT, for the 100 applications that move the most. Lustre counts
    by the name that a client gives, and forgets an application that did nothing for a while
    (job_cleanup_interval, 10 minutes).

    \b
    Example: vas job io
             vas job io --json

    \f
    Raises NotHere on a machine that serves no target, BadInput for options that
    contradict.
    """
    if metrics and as_json:
        raise BadInput("cannot go with --metrics", where="--json", hint="give one of them")
    if metrics:
        _write(metrics, every)
        return
    if every:
        raise BadInput("writes no file", where=f"--every {every}s", hint="add --metrics FILE")
    targets = read_targets(_ROOT)
    if not targets:
        hint = "run this on a storage server, while Lustre is up"
        raise NotHere("this machine serves no target of Lustre", hint=hint)
    if as_json:
        print_json([_as_json(target) for target in targets])
    else:
        _print(targets)


def _write(file: Path, every: int | None) -> None:
    """Writes the file once; if `every` is given, again each time so many seconds have passed.

    A server that has no target yet is no error: one may be mounted later.
    """
    # Only here: it takes a while to import, which `vas --help` need not wait for.
    from vas_yarn.jobstats.metrics import write_metrics

    while True:
        write_metrics(file, read_targets(_ROOT), time.time())
        if not every:
            return
        time.sleep(every)


def _as_json(target: TargetIo) -> dict[str, object]:
    rows = [row.as_json() for row in target.rows]
    return {"target": target.target, "applications": rows, "left_out": dict(target.left_out)}


def _print(targets: list[TargetIo]) -> None:
    rows = [row for target in targets for row in target.rows]
    rows.sort(key=lambda row: (row.target, -row.write_bytes - row.read_bytes, row.jobid))
    cells = (
        (r.target, r.application, format_size(r.read_bytes), format_size(r.write_bytes), r.requests)
        for r in rows
    )
    print_table(("TARGET", "APPLICATION", "READ", "WRITTEN", "REQUESTS"), cells)
    left_out = sum((target.left_out for target in targets), Counter())
    if left_out:
        reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.most_common())
        note(f"not shown: {reasons} (docs/jobstats.md)")
