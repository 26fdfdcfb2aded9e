"""The command `vas affinity record`."""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_affinity.machine.reading.tasks import TICKS_PER_SECOND, descendants
from vas_affinity.options import jvm_names_option
from vas_affinity.watch.record.recorder import Recorder
from vas_affinity.watch.record.recording import End, Header
from vas_affinity.watch.thread_keys import ThreadKeys, find_processes
from vas_core.cli import RealRange, note
from vas_core.errors import BadInput, NotHere
from vas_core.root import Root

_ROOT = Root()
_STOP_SECONDS = 5


@click.command()
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False, writable=True),
    required=True,
    help="File of the recording (JSON lines).",
)
@click.option("--process", "-p", multiple=True, help="PID, or pattern of names and arguments.")
@click.option("--seconds", type=RealRange(0, min_open=True), help="End after this time.")
@click.option(
    "--interval", type=click.IntRange(1, 60_000), default=100, show_default=True, metavar="MS"
)
@jvm_names_option
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
def record(
    out: Path,
    process: tuple[str, ...],
    seconds: float | None,
    interval: int,
    jvm_names: bool,
    command: tuple[str, ...],
) -> int:
    """Record which core each thread runs on, over time.

    Records running processes (--process), or a COMMAND and all that it starts. Ends after
    --seconds, at Ctrl-C, or when the processes have ended. `vas affinity plot` draws the recording.
    The exit status is that of the COMMAND, if there is one.

    \b
    Examples: vas affinity record --out before.jsonl -p NodeManager --seconds 30
              vas affinity record --out job.jsonl -- sh -c 'sort big | gzip > big.gz'

    \f
    Raises BadInput unless one of the two is given, NotHere for a missing program.
    """
    _check_one_of(process, command)
    pids = find_processes(_ROOT, process) if process else []
    out.open("a").close()  # before the command is started for nothing
    snapshot = read_snapshot(_ROOT, asked=SnapshotRequest(processes=process, jvm_names=jvm_names))
    names = ThreadKeys.of(_ROOT, snapshot.threads)
    header = Header(
        started=time.time(),
        interval_seconds=interval / 1000,
        ticks_per_second=TICKS_PER_SECOND,
        what=process or command[:1],
        topology=snapshot.topology,
    )
    if process:
        _say(_record(out, header, names, lambda: pids, seconds), out)
        return 0
    return _record_command(out, header, names, command, seconds)


def _check_one_of(process: Sequence[str], command: Sequence[str]) -> None:
    if bool(process) == bool(command):
        raise BadInput("needs either --process or a COMMAND", where="record")


def _record_command(
    out: Path, header: Header, names: ThreadKeys, command: Sequence[str], seconds: float | None
) -> int:
    try:
        running = subprocess.Popen(command)
    except FileNotFoundError:
        raise NotHere(f"program {command[0]!r} is not installed", where="record") from None
    try:
        pids: Callable[[], list[int]] = lambda: descendants(_ROOT, running.pid)  # noqa: E731
        end = _record(out, header, names, pids, seconds, ended=lambda: running.poll() is not None)
        _say(end, out)
    finally:
        stopped = running.poll() is None
        if stopped:
            _stop(running)
    return 0 if stopped else _status(running.returncode)


def _status(code: int) -> int:
    """Returns the exit status as a shell does: 128 plus the signal's number."""
    return code if code >= 0 else 128 - code


def _record(
    out: Path,
    header: Header,
    names: ThreadKeys,
    pids: Callable[[], Sequence[int]],
    seconds: float | None,
    ended: Callable[[], bool] = lambda: False,
) -> End:
    columns = (TextColumn("recording"), BarColumn(), TextColumn("{task.completed:.0f} s"))
    left = (TimeRemainingColumn(),) if seconds else ()
    console = Console(stderr=True)
    hidden = not sys.stderr.isatty()
    _allow_files()
    with (
        out.open("w", encoding="utf-8", errors="backslashreplace") as stream,
        Progress(*columns, *left, console=console, disable=hidden, refresh_per_second=2) as bar,
    ):
        task = bar.add_task("", total=seconds)
        going = _until(seconds, ended, lambda now: bar.update(task, completed=now))
        return Recorder(_ROOT, stream, pids, names).record(header, going)


def _allow_files() -> None:
    """Raises the limit of open files: one is open per thread, and JVMs have more than 1024."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def _until(
    seconds: float | None, ended: Callable[[], bool], tell: Callable[[float], None]
) -> Callable[[float], bool]:
    asked: list[int] = []
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda got, _: asked.append(got))

    def going_on(now: float) -> bool:
        tell(now)
        return (seconds is None or now < seconds) and not asked and not ended()

    return going_on


def _stop(running: subprocess.Popen[bytes]) -> None:
    running.terminate()
    try:
        running.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        running.kill()
        running.wait()


def _say(end: End, out: Path) -> None:
    share = end.recorder_cpu_seconds / end.seconds if end.seconds else 0.0
    note(
        f"{out}: {end.samples} samples in {end.seconds:.1f} s; "
        f"the recorder used {share:.2%} of a CPU; see `vas affinity plot {out} --out FILE.svg`"
    )
