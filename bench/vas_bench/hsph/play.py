"""Plays the two runs of a result, wherever they run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass

from vas_bench.engine.play import Budget, Played
from vas_bench.engine.resume import Environment, changes
from vas_bench.engine.rounds import RunIdentity
from vas_bench.hsph.metric import PHASES
from vas_bench.hsph.phase_work import PhaseWork
from vas_bench.hsph.record import HsphSubject, hsph_identity, is_whole, sessions_of
from vas_bench.hsph.session import RUNS, HsphSession, expected_seconds, step_name
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore
from vas_bench.run.experiments import Experiment
from vas_bench.run.plan import BenchPlan
from vas_bench.run.session import PlannedSite
from vas_core.progress import Step, Steps

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
    same = [r for r in runs if r.configuration_hash == identity.hash]
    return any(map(is_whole, sessions_of(r for r in same if not changes(r.environment, here))))


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


def played(
    request: HsphRequest,
    site: PlannedSite,
    experiment: Experiment,
    work: Callable[[], PhaseWork],
    shown: AbstractContextManager[Steps],
    joules: Callable[[], float | None] = lambda: None,
    *,
    starts: bool = False,
) -> Played[HsphSubject]:
    """Plays both runs and ends the site; `starts`: that it is started is a step of its own."""
    site.check([experiment])
    identity = hsph_identity(site.identify(experiment), request.scale_factor)
    store, say = request.store, request.say
    if request.resume and is_done(identity, store.runs, site.environment()):
        return Played((), ())
    session = HsphSession(identity, request.command, site.environment, joules, say=say)
    try:
        with shown as progress:
            with progress.step(_START) if starts else nullcontext():
                site.up(experiment)
            return session.play(work(), progress.step, store.append, Budget(request.budget))
    finally:
        site.down()
