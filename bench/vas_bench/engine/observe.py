"""Turns what was seen of a round into its run: identity, environment, and whether it counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from vas_bench.engine.resume import Environment, changes
from vas_bench.engine.rounds import Round, S
from vas_bench.results.record import BenchRun, CurvePoints, HostLocality, Validation
from vas_core.errors import VasError

_REASON_CHARS = 500


@dataclass(frozen=True)
class Observation:
    """The facts observed about a run; `wrong` is why it must not count, empty if it may."""

    measures: Mapping[str, float] = field(default_factory=dict)
    phases: Mapping[str, float] = field(default_factory=dict)
    hosts: Mapping[str, HostLocality] = field(default_factory=dict)
    curves: Mapping[str, CurvePoints] = field(default_factory=dict)
    validation: Validation | None = None
    wrong: str = ""


def failure(failed: VasError) -> str:
    """Returns an error in one line, as the reason why a run is INVALID."""
    return " ".join(f"it failed: {failed}".split())[:_REASON_CHARS]


@dataclass(frozen=True)
class Observer:
    """The settings that all runs of a session have in common.

    `environment` looks at the machine; a run that sees another one than `reference` is INVALID.
    """

    name: str
    command: str
    reference: Environment
    environment: Callable[[], Environment]
    now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def observe(self, round_: Round[S], make: Callable[[], Observation]) -> BenchRun:
        """Plays a round by `make` and returns its run; INVALID if `make` raises VasError."""
        began, before = self.now(), self.environment()
        try:
            seen = make()
        except VasError as failed:
            seen = Observation(wrong=failure(failed))
        looks = (changes(self.reference, look) for look in (before, self.environment()))
        return round_.identity.run(
            id=self._id(round_, began),
            time=began,
            round=round_.number,
            warm_up=round_.warm_up,
            command=self.command,
            environment=dict(before),
            invalid="; ".join(dict.fromkeys(filter(None, (seen.wrong, *looks)))) or None,
            measures=dict(seen.measures),
            phases=dict(seen.phases),
            hosts=dict(seen.hosts),
            curves=dict(seen.curves),
            validation=seen.validation,
        )

    def _id(self, round_: Round[S], began: datetime) -> str:
        kind = "w" if round_.warm_up else "r"
        which = f"{round_.identity.hash[:12]}-{kind}{round_.number}"
        return f"{self.name}-{which}-{began:%Y%m%dT%H%M%S.%fZ}"
