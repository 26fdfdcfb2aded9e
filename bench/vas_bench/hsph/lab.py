"""Two runs, in a lab on this machine or on a site."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vas_bench.engine.play import Budget, Played
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


def is_done(identity: RunIdentity[HsphSubject], runs: Sequence[BenchRun]) -> bool:
    """Whether a session of this identity has both runs.

    One that lacks its second has to begin again: nothing may change between the two.
    """
    sessions: dict[str, list[BenchRun]] = {}
    for run in runs:
        if run.configuration_hash == identity.hash:
            sessions.setdefault(session_of(run), []).append(run)
    return any(map(is_whole, sessions.values()))


def play_in_lab(
    plan: BenchPlan,
    experiment: Experiment,
    scale_factor: float,
    command: str,
    say: Callable[[str], None],
    store: RunStore,
    resume: bool,
    budget: float | None,
) -> Played[HsphSubject]:
    """Starts a lab, plays both runs in it and ends it.

    Raises BadInput where there is no room, NotHere before a build, VasError where there is no
    result.
    """
    directory = default_directory(_LAB)
    site = LabSite(plan, directory, say)
    site.check([experiment])
    identity = hsph_identity(site.identify(experiment), scale_factor)
    if resume and is_done(identity, store.runs):
        return Played((), ())
    learned = directory / "phase-seconds.json"
    try:
        with EnergyMeter(Root()) as meter, Steps.show(steps(experiment), learned) as progress:
            with progress.step(_START):
                site.up(experiment)
            session = HsphSession(identity, command, site.environment, meter.joules, say=say)
            arm = arm_of(experiment, plan.properties)
            work = LabWork(site.lab, sizes_of(experiment), arm, _DIRECTORY)
            return session.play(work, progress.step, store.append, Budget(budget))
    finally:
        site.down()


def play_on_site(
    plan: BenchPlan,
    options: SiteOptions,
    scale_factor: float,
    command: str,
    say: Callable[[str], None],
    store: RunStore,
    resume: bool,
    budget: float | None,
) -> Played[HsphSubject]:
    """Plays both runs on a site. Energy is not metered: its nodes' meters cannot be read from here.

    Raises BadInput for a site that does not fit, VasError without a result.
    """
    site = ClusterSite(plan, options, say)
    (experiment,) = experiments(site.plan)
    site.check([experiment])
    identity = hsph_identity(site.identify(experiment), scale_factor)
    if resume and is_done(identity, store.runs):
        return Played((), ())
    learned = site.learned.parent / "phase-seconds.json"
    try:
        with Steps.show(phase_steps(experiment), learned) as progress:
            site.up(experiment)
            session = HsphSession(identity, command, site.environment, say=say)
            sizes, directory = sizes_of(experiment), f"{site.directory}/hsph"
            work = LabWork(site.place, sizes, site.arm(experiment), directory)
            return session.play(work, progress.step, store.append, Budget(budget))
    finally:
        site.down()
