"""The processes of a round, and what /proc counts of them."""

from __future__ import annotations

import os
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from vas_core.errors import VasError
from vas_core.root import Root
from vas_lab.procfs import parse_stat

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_PSS_PERIOD_SECONDS = 0.25
_END_SECONDS = 30
_LOG_EXCERPT_CHARS = 2000


class HasPid(Protocol):
    """A process that /proc can be asked about."""

    @property
    def pid(self) -> int:
        """The process id that the kernel gave it."""


class FetchProcess:
    """A program that reads lines, answers with lines, and ends when its standard input does."""

    def __init__(self, argv: Sequence[str], work: Path, name: str) -> None:
        self.name, self._log = name, work / f"{name.replace(' ', '-')}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                errors="replace",
                # A path to a daemon's socket is short from here.
                cwd=work,
            )

    @property
    def pid(self) -> int:
        """The process id that the kernel gave it."""
        return self._process.pid

    def say(self, line: str) -> None:
        """Writes a line to its standard input. Raises VasError when it has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as ended:
            raise self._ended() from ended

    def hear(self, start: str) -> str:
        """Returns the next line that begins so, and skips others. Raises VasError at the end."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(start):
                return line.rstrip("\n")
        raise self._ended()

    def drain(self) -> None:
        """Reads all further lines and drops them, so that it never waits for a full pipe."""
        assert self._process.stdout is not None
        lines = self._process.stdout
        threading.Thread(target=lambda: deque(lines, maxlen=0), daemon=True).start()

    def _ended(self) -> VasError:
        status = self._process.wait(_END_SECONDS)
        told = self._log.read_text(errors="replace").strip()[-_LOG_EXCERPT_CHARS:]
        return VasError(f"ended with status {status}: {told}", where=self.name)

    def end(self) -> None:
        """Closes its standard input and waits for its end; kills it when that does not come."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(_END_SECONDS)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()


@contextmanager
def ending(started: Iterable[FetchProcess]) -> Iterator[list[FetchProcess]]:
    """Yields programs as a list that more can be added to, and ends all of it, the last first."""
    running: list[FetchProcess] = []
    try:
        running.extend(started)
        yield running
    finally:
        for each in reversed(running):
            each.end()


def cpu_seconds(root: Root, processes: Iterable[FetchProcess]) -> float:
    """Returns the CPU seconds that processes used since they started.

    Raises VasError for one that has ended.
    """
    ticks = (_stat(root, each) for each in processes)
    return sum(ticks) / _TICKS_PER_SECOND


def _stat(root: Root, process: FetchProcess) -> int:
    text = root.read(f"proc/{process.pid}/stat")
    if text is None:
        raise VasError("it ended", where=process.name)
    return parse_stat(text).cpu_ticks


def read_of(root: Root, pid: int, file: str) -> str:
    """Returns the text of a file in a process' directory in /proc, empty where it has ended."""
    try:
        return root.read(f"proc/{pid}/{file}") or ""
    except ProcessLookupError:
        return ""


def number_of(root: Root, processes: Iterable[HasPid], file: str, key: str) -> int:
    """Returns the sum of a key's number in a file of each process' directory in /proc."""
    found = 0
    for each in processes:
        for line in read_of(root, each.pid, file).splitlines():
            name, _, value = line.partition(":")
            if name == key:
                found += int(value.split()[0])
    return found


def pss_bytes(root: Root, processes: Iterable[HasPid]) -> int:
    """Returns the proportional set size of processes, summed up; one that has ended has none."""
    return number_of(root, processes, "smaps_rollup", "Pss") * 1024


def accepted_connections(root: Root) -> int:
    """Returns how many TCP connections this network namespace has accepted so far."""
    lines = [line.split() for line in (root.read("proc/net/snmp") or "").splitlines()]
    names, values = (line for line in lines if line[0] == "Tcp:")
    return int(values[names.index("PassiveOpens")])


class Repeated:
    """Calls a function in a thread, each time `period_seconds` after the last, until `stop`."""

    def __init__(self, look: Callable[[], None], period_seconds: float) -> None:
        self._look, self._period_seconds = look, period_seconds
        self._failed: OSError | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._repeat, daemon=True)
        self._thread.start()

    def _repeat(self) -> None:
        try:
            while not self._stopped.wait(self._period_seconds):
                self._look()
        except OSError as failed:
            self._failed = failed

    def stop(self) -> None:
        """Ends the thread, and calls the function a last time. Raises OSError if any call did."""
        self._stopped.set()
        self._thread.join()
        if self._failed:
            raise self._failed
        self._look()


class PeakMemory:
    """Watches the PSS of groups of processes until `stop`; keeps each group's largest sum."""

    def __init__(self, root: Root, groups: Mapping[str, Sequence[FetchProcess]]) -> None:
        self._root, self._groups = root, groups
        self.peaks = {name: pss_bytes(root, group) for name, group in groups.items()}
        self._watch = Repeated(self._look, _PSS_PERIOD_SECONDS)

    def _look(self) -> None:
        for name, group in self._groups.items():
            self.peaks[name] = max(self.peaks[name], pss_bytes(self._root, group))

    def stop(self) -> dict[str, int]:
        """Ends the watch and returns the peaks."""
        self._watch.stop()
        return self.peaks
