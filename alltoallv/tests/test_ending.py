"""Commands that are ended by a signal end what they have started."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vas_a2av.building import OPEN_MPI, SIMULATED, MpiKind, build_for, is_installed
from vas_a2av.demo_network import four_nodes, inside
from vas_core.process import run

_INTERRUPTED = 130
_SECONDS = 60.0
_AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="only root may make network namespaces")
pytestmark = [pytest.mark.machine, pytest.mark.slow, pytest.mark.timeout(300)]


@contextmanager
def _started(*words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a command in a session of its own, and ends all of that at the end."""
    argv = [sys.executable, "-m", "vas_core", "a2av", *words]
    process = subprocess.Popen(argv, start_new_session=True, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for number in _in_session(process.pid):
            os.kill(number, signal.SIGKILL)


def _in_session(session: int) -> list[int]:
    """Returns the processes of a session, besides its first one and those that have ended."""
    words = ["ps", "-s", str(session), "-o", "pid=,stat="]
    lines = [line.split() for line in run(words, check=False).stdout.splitlines()]
    return [int(pid) for pid, state in lines if int(pid) != session and state[0] != "Z"]


def _processes_of(text: str) -> list[int]:
    """Returns the processes whose command lines have a text."""
    numbers = [int(each.name) for each in Path("/proc").iterdir() if each.name.isdecimal()]
    return [pid for pid in numbers if text in _command_line(pid)]


def _command_line(pid: int) -> str:
    path = Path(f"/proc/{pid}/cmdline")
    try:
        return path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _wait_until(is_true: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while not is_true():
        assert time.monotonic() < deadline, f"not within {_SECONDS:g} s: {what}"
        time.sleep(0.05)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=_SECONDS) == _INTERRUPTED


def test_a_simulation_ends_with_its_command() -> None:
    if not is_installed(SIMULATED):
        pytest.skip(f"SimGrid is not installed: apt-get install {SIMULATED.package}")
    build_for(SIMULATED, "bench")
    words = ("bench", "--ranks", "256", "--size", "1K", "--algorithm", "pairwise", "--calls", "99")
    with _started(*words) as process:
        _wait_until(lambda: _smpimain_of(process.pid), "a simulation runs")
        _end(process)
        _wait_until(lambda: not _in_session(process.pid), "the simulation has ended")


def _smpimain_of(session: int) -> list[int]:
    return [pid for pid in _in_session(session) if "smpimain" in _command_line(pid)]


def test_ranks_end_with_their_command(mpi: MpiKind) -> None:
    """Ranks of MPICH are in sessions of their own; the seed tells them from those of others."""
    cases, seed = "9999999", str(os.getpid())
    rank = f"{build_for(mpi, 'oracle')}/oracle {cases} {seed}"
    words = ("verify", "--mpi", mpi.name, "--ranks", "3", "--cases", cases, "--seed", seed)
    with _started(*words) as process:
        # The launcher has these words too.
        _wait_until(lambda: len(_processes_of(rank)) >= 1 + 3, "the ranks run")
        _end(process)
        _wait_until(lambda: not _processes_of(rank), "the ranks have ended")


@_AS_ROOT
@pytest.mark.long
def test_ranks_on_nodes_of_the_demo_end_with_it() -> None:
    if not is_installed(OPEN_MPI):
        pytest.skip(f"Open MPI is not installed: apt-get install {OPEN_MPI.package}")
    rank = f"{build_for(OPEN_MPI, 'bench')}/bench linear,mpi,"
    with _started("demo", "--rounds", "9999") as process:
        _wait_until(lambda: len(_processes_of(rank)) >= 1 + 16, "mpiexec and all ranks run")
        _end(process)
        assert "vas-a2av" not in run(["ip", "netns"]).stdout
        _wait_until(lambda: not _processes_of(rank), "the ranks have ended")


@_AS_ROOT
def test_what_runs_on_the_nodes_ends_when_they_are_removed(tmp_path: Path) -> None:
    with four_nodes(tmp_path):
        process = subprocess.Popen([*inside(2), "sh", "-c", "sleep 100 & wait"])
        names = ("ip", "netns", "pids", "vas-a2av-2")
        _wait_until(lambda: len(run(names).stdout.split()) == 2, "two processes run there")
    assert process.wait(timeout=_SECONDS) == -signal.SIGKILL
