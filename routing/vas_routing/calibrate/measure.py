"""The measurement: round by round, each case there and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Cluster
from vas_core.errors import VasError
from vas_core.process import run
from vas_core.progress import Step, Steps
from vas_routing.calibrate import iperf
from vas_routing.calibrate.cases import Case, Round, rounds
from vas_routing.calibrate.result import Sample, Verdict, measured, verdicts
from vas_routing.calibrate.steering import Steering, address_of, switch
from vas_routing.links import Leg

_SWITCH_SECONDS = 3.0


@dataclass(frozen=True)
class Plan:
    """What is to be measured: each case `runs` times, `seconds` long in each direction."""

    cluster: Cluster
    cases: Sequence[Case]
    runs: int
    seconds: int

    @property
    def rounds(self) -> list[Round]:
        """In their order."""
        return list(rounds(self.cases, self.runs))

    @property
    def destinations(self) -> tuple[str, ...]:
        """The nodes that are measured to."""
        return tuple(dict.fromkeys(case.destination for case in self.cases))

    def client(self, case: Case, *, back: bool) -> list[str]:
        """The program that measures a case."""
        return iperf.client(address_of(self.cluster, case.destination), self.seconds, back=back)

    def steps(self) -> list[Step]:
        """The rounds, for the display of progress."""
        each = 2 * (self.seconds + 1)
        return [Step(r.name, len(r.cases) * each + _SWITCH_SECONDS) for r in self.rounds]


def script(plan: Plan, steering: Steering) -> Iterator[list[str]]:
    """All commands of a measurement, in their order."""
    for each in plan.rounds:
        yield from steering.commands(each.leg)
        for case in each.cases:
            for back in (False, True):
                yield steering.reach(plan.client(case, back=back))
    yield from steering.commands(None)


def measure(plan: Plan, steering: Steering, directory: Path) -> list[Verdict]:
    """Measures; however that ends, the guest has its own paths again.

    `directory` is for the display's file. Raises VasError where a path does not carry.
    """
    samples: dict[Case, list[Sample]] = {case: [] for case in plan.cases}
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


def _sample(plan: Plan, steering: Steering, case: Case) -> Sample:
    there, back = (
        iperf.received_gbps(
            run(
                steering.reach(plan.client(case, back=back)),
                check=False,
                timeout_seconds=iperf.limit_seconds(plan.seconds),
            ),
            case.destination,
        )
        for back in (False, True)
    )
    return Sample(there, back)


def _path(steering: Steering, destination: str) -> Leg:
    path = steering.path(destination)
    if path is None:
        hint = "see `vas route explain`"
        raise VasError("the kernel has no path to it", where=destination, hint=hint)
    return path
