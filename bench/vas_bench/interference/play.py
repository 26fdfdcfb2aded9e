"""One turn on a stage: what is read once, what runs beside, what is measured."""

from __future__ import annotations

from collections.abc import Sequence

from vas_bench.interference import fio
from vas_bench.interference.patterns import ALONE, PATTERNS, ArmName
from vas_bench.interference.turns import Played, Turn
from vas_bench.interference.venue import Stage

# Beyond what a measurement is to take: fio's start, and its files' opening.
_SPARE_SECONDS = 120.0
# A client that is slower than this is as good as hung.
_SLOWEST_BYTES_PER_SECOND = 4 << 20
_BY_NAME = {pattern.name: pattern for pattern in PATTERNS}


def make_files(stage: Stage) -> None:
    """Makes the clients' files. Raises VasError when that fails."""
    _fio(stage, ALONE, fio.writing_files(stage.clients))


def play(stage: Stage, turn: Turn, seconds: int) -> Played:
    """One turn, each pattern for so many seconds. Raises VasError when anything of it fails."""
    stage.begin(turn.arm)
    _fio(stage, turn.arm, fio.reading_once(stage.clients))
    with stage.beside(turn.arm) as job_seconds:
        found = {name: _measure(stage, turn.arm, name, seconds) for name in turn.patterns}
    return Played(
        arm=turn.arm,
        round=turn.round,
        warm_up=turn.warm_up,
        bytes_per_second=found,
        job_seconds=tuple(job_seconds),
    )


def _measure(stage: Stage, arm: ArmName, name: str, seconds: int) -> float:
    pattern = _BY_NAME[name]
    argv = fio.measuring(stage.clients, pattern, seconds)
    return fio.throughput(_fio(stage, arm, argv, seconds), pattern.direction)


def _fio(stage: Stage, arm: ArmName, argv: Sequence[str], seconds: float = 0) -> str:
    whole = stage.clients.files_bytes / _SLOWEST_BYTES_PER_SECOND
    return stage.fio(arm, argv, seconds + whole + _SPARE_SECONDS)
