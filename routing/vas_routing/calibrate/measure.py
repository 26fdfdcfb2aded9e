"""Runs the measurement of `vas route calibrate`: round by round, each case in both directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Cluster
from vas_core.errors import VasError
from vas_core.process import run
from vas_core.progress import Step, Steps
from vas_routing.calibrate import iperf
from vas_routing.calibrate.cases import CalibrationCase, CalibrationRound, rounds
from vas_routing.calibrate.result import CalibrationVerdict, ThroughputSample, measured, verdicts
from vas_routing.calibrate.steering import Steering, address_of, carried_bytes, switch
from vas_routing.links import Leg

_SWITCH_SECONDS = 3.0
# Acknowledgements, the switcher's probes and what else a quiet guest says are far less.
_LEAST_SHARE = 0.9
_TRIES = 4


@dataclass(frozen=True)
class CalibrationPlan:
    """The cases to measure: each `runs` times, for `seconds` seconds in each direction."""

    cluster: Cluster
    cases: Sequence[CalibrationCase]
    runs: int
    seconds: int

    @property
    def rounds(self) -> list[CalibrationRound]:
        """Returns the rounds of the measurement in their order."""
        return list(rounds(self.cases, self.runs))

    @property
    def source(self) -> str:
        """The guest that measures."""
        return self.cases[0].source

    @property
    def destinations(self) -> tuple[str, ...]:
        """The nodes that the guest exchanges packets with."""
        return tuple(dict.fromkeys(case.destination for case in self.cases))

    def client(self, case: CalibrationCase, *, back: bool) -> list[str]:
        """Returns the command line that measures a case."""
        return iperf.client(address_of(self.cluster, case.destination), self.seconds, back=back)

    def steps(self) -> list[Step]:
        """Returns the rounds as steps, for the display of progress."""
        each = 2 * (self.seconds + 1)
        return [Step(r.name, len(r.cases) * each + _SWITCH_SECONDS) for r in self.rounds]


def script(plan: CalibrationPlan, steering: Steering) -> Iterator[list[str]]:
    """Yields all commands of a measurement in their order."""
    for each in plan.rounds:
        yield from steering.commands(each.leg)
        for case in each.cases:
            for back in (False, True):
                yield steering.reach(plan.client(case, back=back))
    yield from steering.commands(None)


def measure(plan: CalibrationPlan, steering: Steering, directory: Path) -> list[CalibrationVerdict]:
    """Measures all cases and returns a verdict for each destination.

    The guest gets its own paths back, however the measurement ends. `directory` is for the
    progress display's file. Raises VasError if a path does not carry packets or a program fails.
    """
    samples: dict[CalibrationCase, list[ThroughputSample]] = {case: [] for case in plan.cases}
    try:
        with Steps.show(plan.steps(), directory / "step-seconds.json") as progress:
            for each in plan.rounds:
                with progress.step(each.name):
                    switch(steering, each.leg)
                    for case in each.cases:
                        samples[case].append(_sample(plan, steering, case))
    finally:
        switch(steering, None)
    return verdicts(measured(samples), {to: _path(steering, to) for to in plan.destinations})


def _sample(plan: CalibrationPlan, steering: Steering, case: CalibrationCase) -> ThroughputSample:
    there, back = (_gbps(plan, steering, case, back=back) for back in (False, True))
    return ThroughputSample(there, back)


def _gbps(plan: CalibrationPlan, steering: Steering, case: CalibrationCase, *, back: bool) -> float:
    """Measured again where another leg carried some of it, or nothing came: after a switch, nodes
    far away go on for a moment as their neighbour caches have it."""
    gbps = share = 0.0
    for _ in range(_TRIES):
        before = carried_bytes(steering)
        done = run(
            steering.reach(plan.client(case, back=back)),
            check=False,
            timeout_seconds=iperf.limit_seconds(plan.seconds),
        )
        gbps = iperf.received_gbps(done, case.destination)
        share = share_of(case.leg, before, carried_bytes(steering))
        if gbps > 0 and share >= _LEAST_SHARE:
            return gbps
    raise _unmeasured(case, gbps, share)


def _unmeasured(case: CalibrationCase, gbps: float, share: float) -> VasError:
    where = f"{case.source} to {case.destination}"
    if gbps <= 0:
        hint = "ask both with `vas route explain`"
        return VasError(f"nothing was received by {case.leg}", where=where, hint=hint)
    what = f"{1 - share:.0%} of all bytes did not go by {case.leg}"
    hint = "something else on this guest sends or receives, or the other end has another path"
    return VasError(what, where=where, hint=hint)


def share_of(leg: Leg, before: Mapping[Leg, int], after: Mapping[Leg, int]) -> float:
    """Returns the share (0 to 1) of one leg in the bytes that both carried between two readings."""
    carried = {each: after[each] - before[each] for each in after}
    return carried[leg] / max(1, sum(carried.values()))


def _path(steering: Steering, destination: str) -> Leg:
    path = steering.path(destination)
    if path is None:
        hint = "see `vas route explain`"
        raise VasError("the kernel has no path to it", where=destination, hint=hint)
    return path
