"""Plays the rounds of a plan on its site into a file of results: the part commands share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pydantic import JsonValue

from vas_bench.engine.observe import Observer
from vas_bench.engine.play import Budget, Played, note_left, play_shown
from vas_bench.engine.resume import left_to_do
from vas_bench.engine.rounds import Round, RunIdentity, runs_of
from vas_bench.options import RoundsRequest
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore
from vas_bench.run.comparison_plan import ComparisonPlan
from vas_bench.run.estimate import estimated_seconds, estimates
from vas_bench.run.experiments import Experiment
from vas_bench.run.jobs import PlannedSite
from vas_bench.run.plan import BenchPlan
from vas_bench.run.session import Session
from vas_bench.site.options import SiteOptions
from vas_bench.site.site import ClusterSite
from vas_core.cli import note
from vas_core.table import print_table


def planned_site(plan: BenchPlan, options: SiteOptions | None, lab: str) -> PlannedSite:
    """Returns the site that the user names, or else a lab on this machine, to be started."""
    if options:
        return ClusterSite(plan, options, note)
    # A client of a real site need not load the lab.
    from vas_bench.run.lab_site import LabSite
    from vas_lab.state import default_directory

    return LabSite(plan, default_directory(lab), note)


def conduct(
    site: PlannedSite,
    rounds: Sequence[Round[Experiment]],
    store: RunStore,
    *,
    file: Path | None,
    resume: bool,
    command: str,
    budget: float | None = None,
) -> Played[Experiment]:
    """Plays the rounds that the store lacks, and ends the site.

    Raises BadInput for a store that cannot be gone on from, VasError when the site is broken.
    """
    here = site.environment()
    where = file or Path("results")
    left = left_to_do(rounds, store.content, here, file=where, resume=resume)
    if not left:
        return Played((), ())
    observer = Observer(site.plan.name, command, here, site.environment)
    play, guessed = Session(site, observer).play, estimates(left)
    try:
        limit = Budget(budget)
        return play_shown(
            play, left, store.append, learned=site.learned, estimates=guessed, budget=limit
        )
    finally:
        site.down()


def without_settings(experiments: Iterable[Experiment]) -> list[RunIdentity[Experiment]]:
    """Returns identities for a dry run, without settings: nothing has to be built for them."""
    return [RunIdentity(each, {}, {}) for each in experiments]


def say_rounds(rounds: Sequence[Round[Experiment]]) -> float:
    """Prints rounds with their seconds; returns the sum."""
    seconds = estimated_seconds(rounds)
    titles = [each.title for each in rounds]
    print_table(("ROUND", "SECONDS"), zip(titles, (f"{s:.0f}" for s in seconds), strict=True))
    return sum(seconds)


def compare_in_lab(
    plan: ComparisonPlan,
    jobs: Mapping[str, Sequence[Experiment]],
    session: RoundsRequest,
    settings: Mapping[str, JsonValue],
    command: str,
) -> dict[str, list[BenchRun]]:
    """Runs each job on its systems in a lab, in rounds; returns the runs of each job.

    Raises BadInput for a file whose runs have other settings, VasError when the lab is broken.
    """
    experiments = [each for job in jobs.values() for each in job]
    site = planned_site(plan.site_plan(experiments), None, "bench")
    site.check(experiments)
    # One job after another: its systems run next to each other in time.
    drawn = {key: session.draw([*map(site.identify, job)]) for key, job in jobs.items()}
    whole = [each for of_job in drawn.values() for each in of_job]
    with session.store(settings) as store:
        file, budget = session.resume, session.budget
        ended = conduct(site, whole, store, file=file, resume=True, command=command, budget=budget)
        note_left(ended.left)
        return {key: runs_of(of_job, store.runs) for key, of_job in drawn.items()}
