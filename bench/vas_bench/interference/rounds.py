"""The rounds of a session: who works next to the service, how one is played, what a run holds."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from vas_bench.engine.observe import Observation
from vas_bench.engine.play import Progress
from vas_bench.engine.rounds import ArmSubject, Round, RunIdentity
from vas_bench.interference import fio
from vas_bench.interference.scope import PATTERN_NAMES, PATTERNS, ArmName
from vas_bench.interference.target import InterferenceRequest, InterferenceTarget, TargetStage
from vas_bench.results.measures import INTERFERENCE
from vas_bench.results.record import BenchRun, Parameter
from vas_core.errors import VasError

_RATE, _BESIDE = "throughput_bytes_per_second/", "beside_job_seconds/"
_BY_NAME = {pattern.name: pattern for pattern in PATTERNS}

InterferenceSubject = ArmSubject[ArmName]


def identity(
    arm: ArmName, of: InterferenceRequest, settings: Mapping[str, Any]
) -> RunIdentity[InterferenceSubject]:
    """Returns an arm with the settings that it runs with, the options and the target's."""
    told: dict[str, Parameter] = {"seconds": of.seconds, "size_bytes": of.size}
    subject = ArmSubject(
        arm=arm, system=arm, workload=INTERFERENCE, parameters=told | {"analytics": of.system}
    )
    others = {name: value for name, value in settings.items() if name != "versions"}
    return RunIdentity(subject, others, settings.get("versions", {}))


def patterns_of(round_: Round[InterferenceSubject], seed: int) -> list[str]:
    """Returns a round's patterns in an order drawn by lot: the first meets a job's first maps."""
    arm, number, warm_up = round_.experiment.arm, round_.number, round_.warm_up
    lots = random.Random(f"{seed} {arm} {number} {warm_up}")  # noqa: S311 (an order, not a secret)
    return lots.sample(PATTERN_NAMES, len(PATTERN_NAMES))


def observed(rates: Mapping[str, float], job_seconds: Sequence[float]) -> Observation:
    """Returns bytes a second by pattern, and the seconds of each job that ran next to it."""
    found = {f"{_RATE}{name}": value for name, value in rates.items()}
    jobs = {f"{_BESIDE}{number}": each for number, each in enumerate(job_seconds, 1)}
    return Observation(found | jobs)


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
    """The stage of a target. It is made when a round needs it, and again after `close`."""

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


def rate_of(run: BenchRun, pattern: str) -> float:
    """Returns the bytes a second of a pattern."""
    return run.measures[f"{_RATE}{pattern}"]


def job_seconds_of(run: BenchRun) -> list[float]:
    """Returns the seconds of each job that ran next to the clients."""
    return [value for name, value in run.measures.items() if name.startswith(_BESIDE)]


def as_json(run: BenchRun) -> dict[str, Any]:
    """Returns a run as `vas bench interference --json` prints it."""
    return {
        "arm": run.system,
        "round": run.round,
        "warm_up": run.warm_up,
        "bytes_per_second": {name: rate_of(run, name) for name in PATTERN_NAMES},
        "job_seconds": job_seconds_of(run),
    }
