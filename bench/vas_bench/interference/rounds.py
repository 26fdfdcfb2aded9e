"""The rounds of a session: who works next to the service, and what their runs hold. Pure."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from vas_bench.engine.observe import Observation
from vas_bench.engine.rounds import ArmSubject, Round, RunIdentity
from vas_bench.interference.scope import PATTERN_NAMES, ArmName
from vas_bench.interference.target import InterferenceRequest
from vas_bench.results.measures import INTERFERENCE
from vas_bench.results.record import BenchRun, Parameter

_RATE, _BESIDE = "throughput_bytes_per_second/", "beside_job_seconds/"


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
