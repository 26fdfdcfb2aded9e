"""One round on a stage: what is read once, what runs next to it, what is measured."""

from __future__ import annotations

from contextlib import ExitStack

from vas_bench.engine.observe import Observation
from vas_bench.engine.play import Progress
from vas_bench.engine.rounds import Round
from vas_bench.interference import fio
from vas_bench.interference.rounds import InterferenceSubject, observed, patterns_of
from vas_bench.interference.scope import PATTERNS, ArmName
from vas_bench.interference.target import InterferenceTarget, TargetStage
from vas_core.errors import VasError

_BY_NAME = {pattern.name: pattern for pattern in PATTERNS}


def play(
    stage: TargetStage, round_: Round[InterferenceSubject], *, seconds: int, seed: int
) -> Observation:
    """Plays one round, each pattern for `seconds`. Raises VasError when anything of it fails."""
    arm = round_.experiment.arm
    stage.begin(arm)
    stage.run_fio(arm, fio.reading_once(stage.clients))
    with stage.beside(arm) as job_seconds:
        order = patterns_of(round_, seed)
        found = {name: _measure(stage, arm, name, seconds) for name in order}
    return observed(found, job_seconds)


class Stages:
    """A target's stage, made again after it was closed. Close it at the end."""

    def __init__(self, target: InterferenceTarget) -> None:
        self._target, self._stack = target, ExitStack()
        self._stage: TargetStage | None = None

    def open(self, progress: Progress) -> TargetStage:
        """Returns the stage, made if it is not there. Raises VasError when that fails."""
        if self._stage is None:
            self._stage = self._stack.enter_context(self._target.opened(progress))
        return self._stage

    def close(self) -> None:
        """Removes all that was made: the next round must meet nothing of a failed one's."""
        self._stage = None
        self._stack.close()

    def play(
        self, round_: Round[InterferenceSubject], seed: int, progress: Progress
    ) -> Observation:
        """Plays one round; after a failure the stage is closed. Raises VasError as `play`."""
        try:
            seconds = self._target.request.seconds
            return play(self.open(progress), round_, seconds=seconds, seed=seed)
        except VasError:
            self.close()
            raise


def _measure(stage: TargetStage, arm: ArmName, name: str, seconds: int) -> float:
    pattern = _BY_NAME[name]
    argv = fio.measuring(stage.clients, pattern, seconds)
    return fio.throughput(stage.run_fio(arm, argv, seconds), pattern.direction)
