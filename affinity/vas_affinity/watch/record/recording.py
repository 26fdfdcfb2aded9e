"""The file format of a recording, and its reader.

The file has JSON lines: a header, then a line for each new thread and each sample. A sample holds
the changes only: `{"t": seconds, "on": [[thread, cpu, ticks], ...]}`, and `"ended": [thread, ...]`.
The last line says what the recorder cost.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from vas_affinity.machine.topology import Frozen, MachineTopology
from vas_core.errors import BadInput
from vas_core.reading import read_limited

FORMAT = "vas-affinity-recording"
_MOST_BYTES = 1 << 30


class Header(Frozen):
    """The first line of a recording. `started` is seconds since the epoch."""

    format: str = FORMAT
    version: int = 1
    started: float
    interval_seconds: float
    ticks_per_second: int
    what: tuple[str, ...]
    """The patterns, or the command's program without its arguments, which may hold secrets."""
    topology: MachineTopology


class Recorded(Frozen):
    """The identity of a recorded thread; `thread` is its number in this file."""

    thread: int
    tid: int
    pid: int
    key: str
    name: str
    start: int
    full_name: str | None = None
    """The name of a JVM's thread, where the JVM told it."""


class End(Frozen):
    """The last line of a recording. `migrations` is thread -> the kernel's count, if known."""

    seconds: float
    samples: int
    recorder_cpu_seconds: float
    migrations: dict[int, int]


@dataclass
class String:
    """A thread's line in the figure.

    At `times[i]` it was seen on `cpus[i]` and had used `ticks[i]` of CPU time.
    """

    thread: Recorded
    times: list[float] = field(default_factory=list)
    cpus: list[int] = field(default_factory=list)
    ticks: list[int] = field(default_factory=list)
    ended: float | None = None

    @property
    def moves(self) -> list[float]:
        """Returns the times at which it was seen on another CPU than before."""
        pairs = zip(self.times[1:], self.cpus, self.cpus[1:], strict=False)
        return [time for time, before, after in pairs if before != after]

    @property
    def used_ticks(self) -> int:
        """Returns the CPU time in ticks since it was first seen."""
        return self.ticks[-1] - self.ticks[0] if self.ticks else 0

    def ticks_at(self, time: float) -> int:
        """Returns the CPU time in ticks used until then; it grows at samples only."""
        at = bisect_right(self.times, time)
        return self.ticks[at - 1] - self.ticks[0] if at else 0


@dataclass
class Recording:
    """The content of a recording. `end` is None if the recorder was killed."""

    header: Header
    strings: list[String] = field(default_factory=list)
    seconds: float = 0.0
    end: End | None = None

    @property
    def seen_moves(self) -> int:
        """Returns the moves seen between samples: the least number that there can have been."""
        return sum(len(string.moves) for string in self.strings)

    @property
    def moves_per_second(self) -> float:
        """Returns migrations per second: by the kernel's count if known, else by the samples."""
        moves = sum(self.end.migrations.values()) if self.counted else self.seen_moves  # type: ignore[union-attr]
        return moves / self.seconds if self.seconds else 0.0

    @property
    def counted(self) -> bool:
        """Tells whether the kernel counted the migrations."""
        return bool(self.end and self.end.migrations)

    @property
    def cpu_seconds(self) -> float:
        """Returns the CPU seconds that all threads used."""
        return sum(string.used_ticks for string in self.strings) / self.header.ticks_per_second

    def use(self, times: Iterable[float]) -> list[float]:
        """Returns the total CPU use in each span between two times; 1.0 is a whole CPU."""
        points = list(times)
        total = [sum(string.ticks_at(time) for string in self.strings) for time in points]
        spans = zip(points, points[1:], total, total[1:], strict=False)
        return [(b - a) / self.header.ticks_per_second / (to - of) for of, to, a, b in spans]


def load_recording(path: Path) -> Recording:
    """Reads a recording; a torn last line is left out. Raises BadInput that names a wrong line."""
    lines = _parsed(path)
    try:
        _, first = next(lines)
    except StopIteration:
        raise BadInput(
            "is empty", where=str(path), hint="`vas affinity record` makes one"
        ) from None
    if first.get("format") != FORMAT or first.get("version") != 1:
        raise _no_recording(path)
    number = 1
    try:
        recording = Recording(Header.model_validate(first))
        for place, line in lines:
            number = place
            _take(recording, line)
    except (ValidationError, KeyError, IndexError, TypeError, ValueError) as wrong:
        raise BadInput("is not a line of a recording", where=f"{path}:{number}") from wrong
    # A recorder that was killed may have introduced a thread that no sample has.
    recording.strings = [string for string in recording.strings if string.times]
    return recording


def _no_recording(path: Path) -> BadInput:
    return BadInput("is not a recording", where=str(path), hint="`vas affinity record` makes one")


def _take(recording: Recording, line: dict[str, Any]) -> None:
    if "thread" in line:
        _introduce(recording.strings, Recorded.model_validate(line))
        return
    if "seconds" in line:
        recording.end = End.model_validate(line)
        return
    time = float(line["t"])
    if not recording.seconds <= time < inf:
        raise ValueError("time goes back")
    recording.seconds = time
    for thread, cpu, ticks in line.get("on", ()):
        string = recording.strings[thread]
        string.times.append(time)
        string.cpus.append(int(cpu))
        string.ticks.append(int(ticks))
    for thread in line.get("ended", ()):
        recording.strings[thread].ended = time


def _introduce(strings: list[String], thread: Recorded) -> None:
    """Adds a thread, or renames the one of that number."""
    if thread.thread == len(strings):
        strings.append(String(thread))
    else:
        strings[thread.thread].thread = thread


def _parsed(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    text = read_limited(path, _MOST_BYTES).decode(errors="replace").removesuffix("\n")
    lines = text.split("\n") if text else []  # a name may hold what splitlines() splits at
    for number, line in enumerate(lines, 1):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as wrong:
            if number == len(lines) > 1:
                return
            if number == 1:
                raise _no_recording(path) from wrong
            raise BadInput("is not JSON", where=f"{path}:{number}") from wrong
        if not isinstance(value, dict):
            raise BadInput("is not a line of a recording", where=f"{path}:{number}")
        yield number, value
