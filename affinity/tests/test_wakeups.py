"""Wake-ups as the assembled BPF programs count them, against bpftrace's count of the same."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import pytest

from vas_affinity.watch.graph.wakeups import counting
from vas_core.errors import NotHere
from vas_core.root import Root

pytestmark = pytest.mark.slow

ORACLE = Path(__file__).with_name("wakeups.bt")
ROUND_TRIPS = 2000
# Answers each number on its input; the first process asks so often when it is told to.
ECHO = "import os\nwhile True:\n    os.write(1, os.read(0, 1))"
ASK = f"""
import os, sys
os.read(0, 1)
for _ in range({ROUND_TRIPS}):
    os.write(int(sys.argv[1]), b"x")
    os.read(int(sys.argv[2]), 1)
os.write(1, b"done")
os.read(0, 1)
"""
# Reads a file from its disk so often when it is told to.
READ = f"""
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
os.write(1, b"here")
os.read(0, 1)
for block in range({ROUND_TRIPS}):
    os.preadv(file, [page], block % 256 * 4096)
os.write(1, b"done")
os.read(0, 1)
"""
# bpftrace finds tracepoints there, where a container has them not.
_WITH_TRACEFS = 'mount -t debugfs none /sys/kernel/debug; exec bpftrace "$@"'
_ROW = re.compile(r"@(direct|in_softirq)\[(\d+), (\d+)\]: (\d+)")
_SERVED = re.compile(r"@served\[(\d+), (\d+)\]: (\d+)")
Counts = dict[tuple[int, int], tuple[int, int]]


@contextmanager
def partners() -> Iterator[tuple[subprocess.Popen[bytes], subprocess.Popen[bytes]]]:
    """Two processes that will wake each other by pipes; the first waits for a byte on its input."""
    program = (sys.executable, "-c")
    with subprocess.Popen([*program, ECHO], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as echo:
        assert echo.stdin and echo.stdout
        to, back = echo.stdin.fileno(), echo.stdout.fileno()
        with subprocess.Popen(
            [*program, ASK, str(to), str(back)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=(to, back),
        ) as ask:
            try:
                yield ask, echo
            finally:
                ask.kill()
                echo.kill()


@contextmanager
def bpftrace(first: int, second: int) -> Iterator[subprocess.Popen[str]]:
    """The oracle, all of whose probes are there."""
    argv = ["unshare", "--mount", "sh", "-ec", _WITH_TRACEFS, "sh", ORACLE, str(first), str(second)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout
            # One probe may have ticked while the others were still attached.
            ticks = [line for line in islice(program.stdout, 3) if line == "tick\n"]
            assert len(ticks) == 2
            yield program
        finally:
            program.kill()


def counts_of(program: subprocess.Popen[str]) -> Counts:
    """Ends the oracle and reads its counts: (waker, woken) -> direct and within a softirq."""
    program.send_signal(signal.SIGINT)
    found: dict[tuple[int, int], dict[str, int]] = {}
    for kind, waker, woken, number in _ROW.findall(program.communicate()[0]):
        found.setdefault((int(waker), int(woken)), {})[kind] = int(number)
    return {pair: (of.get("direct", 0), of.get("in_softirq", 0)) for pair, of in found.items()}


@pytest.mark.skipif(shutil.which("bpftrace") is None, reason="not installed: bpftrace")
def test_the_assembled_programs_count_what_bpftrace_counts() -> None:
    with partners() as (ask, echo):
        assert ask.stdin and ask.stdout
        try:
            with (
                counting(Root(), [ask.pid, echo.pid]) as ours,
                bpftrace(ask.pid, echo.pid) as oracle,
            ):
                ask.stdin.write(b"x")
                ask.stdin.flush()
                assert ask.stdout.read(4) == b"done"
                wakes = {(w.waker, w.woken): (w.direct, w.softirq) for w in ours.wakes()}
                theirs = counts_of(oracle)
        except NotHere as refused:
            pytest.skip(str(refused))
        assert wakes == theirs
        # On a busy machine many are awake before they are asked, so no share of the trips is sure.
        assert min(wakes[ask.pid, echo.pid][0], wakes[echo.pid, ask.pid][0]) > 0


@pytest.mark.skipif(shutil.which("bpftrace") is None, reason="not installed: bpftrace")
def test_requests_that_wake_a_reader_are_counted_as_bpftrace_counts_them(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(bytes(1 << 20))
    argv, pipe = [sys.executable, "-c", READ, str(file)], subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe) as read:
        assert read.stdin and read.stdout
        try:
            if read.stdout.read(4) != b"here":
                pytest.skip("the file system of the tests reads past no cache (O_DIRECT)")
            with counting(Root(), [read.pid]) as ours, bpftrace(read.pid, read.pid) as oracle:
                read.stdin.write(b"x")
                read.stdin.flush()
                assert read.stdout.read(4) == b"done"
                served = {(w.disk, w.woken): w.count for w in ours.disk_wakes()}
                oracle.send_signal(signal.SIGINT)
                theirs = _SERVED.findall(oracle.communicate()[0])
        except NotHere as refused:
            pytest.skip(str(refused))
        finally:
            read.kill()
    expected = {
        (f"{int(disk) >> 20}:{int(disk) & 0xFFFFF}", int(woken)): int(count)
        for disk, woken, count in theirs
    }
    # Both have a program at each event: an interrupt between the two ends what the first has noted.
    assert served == pytest.approx(expected, rel=0.01)
    assert served
