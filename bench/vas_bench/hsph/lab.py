"""Plays the two runs of a result in a lab on this machine, or on a site."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from vas_bench.engine.play import Budget, Played
from vas_bench.engine.resume import Environment, changes
from vas_bench.engine.rounds import RunIdentity
from vas_bench.hsph.energy import EnergyMeter
from vas_bench.hsph.lab_work import LabWork
from vas_bench.hsph.metric import PHASES
from vas_bench.hsph.record import HsphSubject, hsph_identity, is_whole, session_of
from vas_bench.hsph.session import RUNS, HsphSession, expected_seconds, step_name
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore
from vas_bench.run.experiments import Experiment, experiments
from vas_bench.run.lab_site import LabSite
from vas_bench.run.plan import BenchPlan
from vas_bench.run.planned import PlannedSite
from vas_bench.run.systems import arm_of, sizes_of
from vas_bench.site.checks import SiteOptions
from vas_bench.site.site import ClusterSite
from vas_core.progress import Step, Steps
from vas_core.root import Root
from vas_lab.state import default_directory

_LAB = "bench-hsph"
_DIRECTORY = "/bench-hsph"
_START = "start the lab"
_START_SECONDS = 25.0


def steps(experiment: Experiment) -> list[Step]:
    """Returns the steps of two runs in a lab, and how long they may take."""
    return [Step(_START, _START_SECONDS), *phase_steps(experiment)]


def phase_steps(experiment: Experiment) -> list[Step]:
    """Returns the steps of two runs on a site, where nothing is started."""
    return [
        Step(step_name(number, phase), expected_seconds(phase, experiment.size_bytes))
        for number in RUNS
        for phase in PHASES
    ]


def is_done(
    identity: RunIdentity[HsphSubject], runs: Sequence[BenchRun], here: Environment
) -> bool:
    """Tells whether a session of this identity has both runs, made in this environment.

    A session without its second run begins again: nothing may change between the two.
    """
    sessions: dict[str, list[BenchRun]] = {}
    for run in runs:
        if run.configuration_hash == identity.hash and not changes(run.environment, here):
            sessions.setdefault(session_of(run), []).append(run)
    return any(map(is_whole, sessions.values()))


@dataclass(frozen=True)
class HsphRequest:
    """The options of a session, and the store of its runs. `budget` is in seconds."""

    plan: BenchPlan
    scale_factor: float
    command: str
    say: Callable[[str], None]
    store: RunStore
    resume: bool = False
    budget: float | None = None


def play_in_lab(request: HsphRequest, experiment: Experiment) -> Played[HsphSubject]:
    """Starts a lab, plays both runs in it and ends it.

    Raises BadInput where there is no room, NotHere before a build, VasError where there is no
    result.
    """
    directory = default_directory(_LAB)
    site = LabSite(request.plan, directory, request.say)

    def work() -> LabWork:
        arm = arm_of(experiment, request.plan.properties)
        return LabWork(site.lab, sizes_of(experiment), arm, _DIRECTORY)

    shown = Steps.show(steps(experiment), directory / "phase-seconds.json")
    with EnergyMeter(Root()) as meter:
        return _played(request, site, experiment, work, shown, meter.joules)


def play_on_site(request: HsphRequest, options: SiteOptions) -> Played[HsphSubject]:
    """Plays both runs on a site. Energy is not metered: its nodes' meters cannot be read from here.

    Raises BadInput for a site that does not fit, VasError without a result.
    """
    site = ClusterSite(request.plan, options, request.say)
    (experiment,) = experiments(site.plan)

    def work() -> LabWork:
        sizes, directory = sizes_of(experiment), f"{site.directory}/hsph"
        return LabWork(site.place, sizes, site.arm(experiment), directory)

    shown = Steps.show(phase_steps(experiment), site.learned.parent / "phase-seconds.json")
    return _played(request, site, experiment, work, shown)


def _played(
    request: HsphRequest,
    site: PlannedSite,
    experiment: Experiment,
    work: Callable[[], LabWork],
    shown: AbstractContextManager[Steps],
    joules: Callable[[], float | None] = lambda: None,
) -> Played[HsphSubject]:
    site.check([experiment])
    identity = hsph_identity(site.identify(experiment), request.scale_factor)
    store, say = request.store, request.say
    if request.resume and is_done(identity, store.runs, site.environment()):
        return Played((), ())
    session = HsphSession(identity, request.command, site.environment, joules, say=say)
    try:
        with shown as progress:
            with progress.step(_START) if isinstance(site, LabSite) else nullcontext():
                site.up(experiment)
            return session.play(work(), progress.step, store.append, Budget(request.budget))
    finally:
        site.down()
