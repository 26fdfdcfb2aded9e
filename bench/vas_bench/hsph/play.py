"""Plays the two runs of a result, wherever they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from vas_bench.engine.play import Budget, Played
from vas_bench.engine.resume import Environment, changes
from vas_bench.engine.rounds import RunIdentity
from vas_bench.hsph.energy import EnergyMeter
from vas_bench.hsph.metric import PHASES
from vas_bench.hsph.phase_work import PhaseWork
from vas_bench.hsph.record import HsphSubject, hsph_identity, is_whole, sessions_of
from vas_bench.hsph.session import RUNS, HsphSession, expected_seconds, step_name
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore
from vas_bench.run.experiments import Experiment, experiments
from vas_bench.run.jobs import PlannedSite
from vas_bench.run.systems import sizes_of
from vas_core.progress import Step, Steps
from vas_core.root import Root

_START = "start the lab"
_START_SECONDS = 25.0


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

    On a site it is not: its nodes' meters cannot be read from here. Raises BadInput for a site that
    does not fit, NotHere before a build, VasError where there is no result.
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
