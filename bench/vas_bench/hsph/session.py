"""Plays the two runs of a result on a lab or a site, with nothing changed between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Protocol

from vas_bench.engine.observe import Observation, Observer
from vas_bench.engine.play import Budget, Estimates, Expected, Played, Quiet, StopRule, play_all
from vas_bench.engine.resume import Environment, changes
from vas_bench.engine.rounds import Round, RunIdentity, draw_rounds
from vas_bench.hsph.energy import EnergyMeter
from vas_bench.hsph.metric import PHASES, HsphRun
from vas_bench.hsph.phase_work import PhaseWork
from vas_bench.hsph.record import HsphSubject, hsph_identity, is_whole, observed, sessions_of
from vas_bench.results.record import BenchRun, Validation
from vas_bench.results.store import RunStore
from vas_bench.run.experiments import Experiment, experiments
from vas_bench.run.jobs import PlannedSite
from vas_bench.run.systems import sizes_of
from vas_core.errors import VasError
from vas_core.progress import Step, Steps
from vas_core.root import Root

RUNS = (1, 2)
_START = "start the lab"
_START_SECONDS = 25.0
_GIB = 1 << 30
# Of a phase on two quiet cores: a part that it takes anyway, and one for each GiB. First guesses:
# progress learns what phases take here.
_SECONDS: Mapping[str, tuple[float, float]] = {
    "generate": (10, 25),
    "check input": (1, 0),
    "sort": (20, 45),
    "check output": (1, 0),
    "validate": (10, 15),
}
Around = Callable[[str], AbstractContextManager[None]]


class CheckedWork(Protocol):
    """Work that is timed. Both methods raise VasError when they fail; then no result exists."""

    def clean(self) -> None:
        """Removes the files of the run before: nothing else may be done between two runs."""

    def play(self, phase: str) -> None:
        """Runs one of `metric.PHASES` to its end."""

    @property
    def checksum(self) -> str:
        """The checksum of the validated rows."""

    @property
    def cpu_seconds(self) -> float:
        """The CPU seconds of all three jobs; 0 where they are not known."""


def play_once(
    work: CheckedWork,
    around: Around,
    *,
    scale_factor: float,
    joules: Callable[[], float | None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
) -> HsphRun:
    """Cleans, then plays every phase, and returns the run with the seconds of each.

    The run's total, T, is from before the first phase to after the last. `around` is entered around
    each phase; the time that it takes is in the total and in no phase. `joules` reads a meter. An
    error of a phase ends the run and is passed on. Raises BadInput as `HsphRun`.
    """
    work.clean()
    metered, started = joules(), clock()
    seconds: dict[str, float] = {}
    for phase in PHASES:
        with around(phase):
            began = clock()
            work.play(phase)
            seconds[phase] = clock() - began
    total, now = clock() - started, joules()
    used = None if metered is None or now is None else now - metered
    return HsphRun(scale_factor, total, seconds, joules=used)


class BothOrNone(StopRule[HsphSubject]):
    """The stop rule of a session, which ends at the first INVALID run."""

    def saw(self, round_: Round[HsphSubject], run: BenchRun) -> None:
        """Raises VasError where a run is INVALID."""
        if run.invalid:
            what = f"run {round_.number} failed, and a result takes both: {run.invalid}"
            raise VasError(what, where=run.id, hint="run both again")


@dataclass(frozen=True)
class HsphSession:
    """The settings that two runs have in common."""

    identity: RunIdentity[HsphSubject]
    command: str
    environment: Callable[[], Environment]
    joules: Callable[[], float | None] = lambda: None
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    clock: Callable[[], float] = time.monotonic
    say: Callable[[str], None] = field(default=lambda _: None)

    def play(
        self,
        work: CheckedWork,
        around: Around,
        keep: Callable[[BenchRun], None],
        budget: Budget | None = None,
    ) -> Played[HsphSubject]:
        """Plays both runs and keeps each. Raises VasError where one is INVALID.

        A run is INVALID when a phase fails, when anything changed meanwhile, and the second when
        it sorted other rows than the first.
        """
        name = f"hsph-{self.now():%Y%m%dT%H%M%S.%fZ}"
        observer = Observer(name, self.command, self.environment(), self.environment, self.now)
        rounds = draw_rounds([self.identity], rounds=len(RUNS), seed=0)
        size = self.identity.experiment.experiment.size_bytes
        seconds = sum(expected_seconds(phase, size) for phase in PHASES)
        first: list[Validation | None] = []

        def observe(round_: Round[HsphSubject]) -> Observation:
            seen = self._once(work, around, round_.number)
            first.append(seen.validation)
            same = seen.validation == first[0]
            return seen if same else replace(seen, wrong="the runs sorted different rows")

        return play_all(
            lambda each: observer.observe(each, lambda: observe(each)),
            rounds,
            keep,
            progress=Quiet(self.say),
            estimates=Estimates(rounds, [Expected(0.0, seconds)] * len(RUNS)),
            budget=budget,
            stop=BothOrNone(),
        )

    def _once(self, work: CheckedWork, around: Around, number: int) -> Observation:
        run = play_once(
            work,
            lambda phase: around(step_name(number, phase)),
            scale_factor=self.identity.experiment.scale_factor,
            joules=self.joules,
            clock=self.clock,
        )
        return observed(run, work.cpu_seconds, work.checksum)


def step_name(number: int, phase: str) -> str:
    """Returns the name that progress has for a phase of one of the runs."""
    return f"run {number}: {phase}"


def expected_seconds(phase: str, size_bytes: int) -> float:
    """Returns a phase's seconds, before anything is known of this machine."""
    least, per_gib = _SECONDS[phase]
    return least + per_gib * size_bytes / _GIB


def steps(experiment: Experiment, *, in_lab: bool) -> list[Step]:
    """Returns the steps of two runs, and how long they may take; a lab is started first."""
    phases = [
        Step(step_name(number, phase), expected_seconds(phase, experiment.size_bytes))
        for number in RUNS
        for phase in PHASES
    ]
    return [Step(_START, _START_SECONDS)] * in_lab + phases


def is_done(
    identity: RunIdentity[HsphSubject], runs: Sequence[BenchRun], here: Environment
) -> bool:
    """Tells whether a session of this identity has both runs, made in this environment.

    A session without its second run begins again: nothing may change between the two.
    """
    same = [r for r in runs if r.configuration_hash == identity.hash]
    return any(map(is_whole, sessions_of(r for r in same if not changes(r.environment, here))))


@dataclass(frozen=True)
class HsphRequest:
    """The options of a session, and the store of its runs. `budget` is in seconds."""

    scale_factor: float
    command: str
    say: Callable[[str], None]
    store: RunStore
    resume: bool = False
    budget: float | None = None


def played(request: HsphRequest, site: PlannedSite, *, in_lab: bool) -> Played[HsphSubject]:
    """Plays both runs and ends the site. A lab is started first, and its energy is metered.

    On a site no energy is metered: its nodes' meters cannot be read from here. Returns no runs
    if `resume` finds both in the store. Raises BadInput for a site that does not fit, NotHere
    before a build, VasError if a phase fails or a run is INVALID.
    """
    (experiment,) = experiments(site.plan)
    site.check([experiment])
    identity = hsph_identity(site.identify(experiment), request.scale_factor)
    store, say = request.store, request.say
    if request.resume and is_done(identity, store.runs, site.environment()):
        return Played((), ())
    shown = Steps.show(
        steps(experiment, in_lab=in_lab), site.learned.with_name("phase-seconds.json")
    )
    meter = EnergyMeter(Root()) if in_lab else None
    joules = meter.joules if meter else lambda: None
    session = HsphSession(identity, request.command, site.environment, joules, say=say)
    try:
        with shown as progress, meter or nullcontext():
            with progress.step(_START) if in_lab else nullcontext():
                site.up(experiment)
            work = _work(site, experiment)
            return session.play(work, progress.step, store.append, Budget(request.budget))
    finally:
        site.down()


def _work(site: PlannedSite, experiment: Experiment) -> PhaseWork:
    place, directory = site.jobs.place, f"{site.jobs.directory}/hsph"
    return PhaseWork(place, sizes_of(experiment), site.arm(experiment), directory)
