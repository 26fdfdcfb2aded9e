"""The command `vas affinity graph`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from vas_affinity.graph.watch import Graph, Watch
from vas_affinity.reading import Asked, read_snapshot
from vas_affinity.record.names import Names, find_processes
from vas_core.cli import RealRange, json_option, note, print_json, print_table
from vas_core.files import write_atomically
from vas_core.root import Root

_ROOT = Root()
_SHOWN = 30
_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@click.option(
    "--process", "-p", multiple=True, required=True, help="A PID, or a pattern of name, arguments."
)
@click.option("--seconds", type=RealRange(0.2), default=10.0, show_default=True)
@click.option(
    "--budget",
    type=RealRange(0.01, 100),
    default=1.0,
    show_default=True,
    help="CPU time that watching may use, in % of a CPU.",
)
@click.option("--out", type=_file, help="Write the JSON there: `vas affinity plan` reads it.")
@json_option
def graph(
    process: tuple[str, ...], seconds: float, budget: float, out: Path | None, as_json: bool
) -> None:
    """Find which threads talk to which, and how much.

    Wake-ups are counted in the kernel (BPF), where it lets us; else they are estimated from what
    threads wait for. What it cannot know is in `unread`. Changes nothing.

    \b
    Examples: vas affinity graph -p NodeManager -p oss --seconds 30 --out graph.json
              vas affinity graph -p 4711 --json
    """
    pids = find_processes(_ROOT, process)
    threads = read_snapshot(_ROOT, asked=Asked(processes=process)).threads
    columns = (TextColumn("watching"), BarColumn(), TextColumn("{task.completed:.0f} s"))
    hidden = not sys.stderr.isatty()
    with Progress(*columns, console=Console(stderr=True), disable=hidden) as bar:
        task = bar.add_task("", total=seconds)
        watch = Watch(_ROOT, pids, Names.of(_ROOT, threads), budget / 100)
        found = watch.run(seconds, lambda now: bar.update(task, completed=now))
    if out:
        write_atomically(out, json.dumps(found.as_json(), indent=1, ensure_ascii=False) + "\n")
    if as_json:
        print_json(found.as_json())
    elif not out:
        _print(found)
    _say(found)


def _print(found: Graph) -> None:
    shown = found.pairs[:_SHOWN]
    rows = ((pair.a, pair.b, f"{pair.weight:.1f}", "; ".join(pair.why)) for pair in shown)
    print_table(("a", "b", "weight", "why"), rows)
    if len(shown) < len(found.pairs):
        note(f"{len(found.pairs) - len(shown)} lighter pairs are not shown; --json has all")


def _say(found: Graph) -> None:
    over = found.overhead
    note(
        f"{len(found.pairs)} pairs of {found.threads} threads in {found.seconds:.1f} s; watching "
        f"used {over.own:.2%} of a CPU, in the kernel {over.kernel:.2%}; wake-ups were counted "
        f"{over.counted:.0%} of the time, waits looked at {over.looks} times"
    )
    for one in found.unread:
        note(f"not known: {one.what}: {one.why}")
