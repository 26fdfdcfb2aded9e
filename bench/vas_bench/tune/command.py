"""The command `vas bench tune`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path

import click

from vas_bench.engine.observe import Observer
from vas_bench.engine.play import Budget
from vas_bench.engine.resume import check_content, check_environments
from vas_bench.engine.rounds import RunIdentity, key_of
from vas_bench.options import PlanSession, dry_run_option, plan_options
from vas_bench.results.store import RunStore
from vas_bench.run.conduct import planned_site
from vas_bench.run.estimate import estimated_seconds
from vas_bench.run.jobs import PlannedSite
from vas_bench.run.plan import made_plan
from vas_bench.run.session import Session
from vas_bench.site.options import SiteOptions, site_options
from vas_bench.site.site import ClusterSite
from vas_bench.tune.plan import TunePlan
from vas_bench.tune.profile import profile_xml
from vas_bench.tune.search import Finder, TuneResult, planned
from vas_bench.tune.space import LAB_TASKS, Space, experiment, space
from vas_bench.tune.trials import Trials
from vas_bench.tune.words import as_json as found_as_json
from vas_bench.tune.words import finals, rows, space_as_json
from vas_core.cli import json_option, note, print_json
from vas_core.durations import format_duration
from vas_core.errors import BadInput
from vas_core.files import write_atomically
from vas_core.settings import read_yaml
from vas_core.shown import counted
from vas_core.table import print_table

_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@plan_options
@click.option("--profile", type=_file, help="File of the profile [default: the plan's name.xml].")
@site_options
@dry_run_option
@json_option
def tune(
    session: PlanSession,
    profile: Path | None,
    site: SiteOptions | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Look for faster job settings; recommend only what is sure.

    Tries combinations of the plan's values by successive halving: all of them with few runs, the
    fastest with more. Then the last ones run in rounds with the baseline, and these new runs alone
    decide. What is significantly faster, with Holm's correction, becomes a job profile; otherwise
    none is written.

    \b
    Examples: vas bench tune bench/plans/tune/terasort-tuned.yaml --dry-run
              vas bench tune bench/plans/tune/terasort-tuned.yaml --budget 3h
              vas bench tune PLAN.yaml --cluster /etc/vas/cluster.yaml --directory /user/ann
              vas submit --profile terasort-tuned.xml examples.jar terasort /in /out

    \f
    Raises BadInput for a plan that a site cannot run.
    """
    plan, here, told = _opened(read_yaml(session.plan_file, TunePlan), site)
    searched = space(plan, told)
    for point, why in searched.impossible:
        note(f"not tried: {searched.name(point)}: {why.key}={why.value}: {why.why}")
    if dry_run:
        _say(plan, searched, as_json)
        return
    target, budget = session.target(plan.name), session.budget or plan.budget
    found = _found(plan, here, searched, target, resume=session.resume, budget=budget)
    written = _written(plan, found, profile or Path(f"{plan.name}.xml"))
    _print(found, target, written, as_json)


def _opened(
    plan: TunePlan, options: SiteOptions | None
) -> tuple[TunePlan, PlannedSite, Mapping[str, str]]:
    """The plan on its site, the site, and what its jobs have where the plan says nothing."""
    told = made_plan(
        name=plan.name,
        workloads=plan.workload,
        systems=plan.system,
        properties=plan.properties,
        drop_caches=plan.drop_caches,
    )
    site = planned_site(told, options, "bench-tune")
    if not isinstance(site, ClusterSite):
        return plan, site, LAB_TASKS
    if {plan.baseline.jvm, *(plan.sweep.jvm or ())} != {"lab"}:
        hint = "leave it out: sweep mapreduce.map.java.opts under `properties`"
        raise BadInput("these are a lab's profiles", where="jvm", hint=hint)
    (hosts,) = site.plan.parameters.hosts
    return plan.model_copy(update={"hosts": hosts}), site, site.properties


def _found(
    plan: TunePlan,
    site: PlannedSite,
    searched: Space,
    target: Path,
    *,
    resume: bool,
    budget: int | None,
) -> TuneResult:
    points = (searched.baseline, *searched.candidates)
    site.check([experiment(plan, point) for point in points])
    identities = {point: site.identify(experiment(plan, point)) for point in points}
    here = site.environment()
    with RunStore.open(target) as store:
        check_content(store.content, file=target, resume=resume)
        hashes = {each.hash for each in identities.values()}
        ours = [run for run in store.content.runs if run.configuration_hash in hashes]
        check_environments(ours, here, file=target)
        command = shlex.join(["vas", "bench", "tune", f"{plan.name}.yaml"])
        trials = Trials(
            Session(site, Observer(plan.name, command, here, site.environment)).play,
            store.append,
            site.learned,
            {key_of(run): run for run in ours if run.invalid is None},
            Budget(budget),
        )
        try:
            return Finder(plan, searched, identities, trials, note).find()
        finally:
            site.down()


def _say(plan: TunePlan, searched: Space, as_json: bool) -> None:
    points = (searched.baseline, *searched.candidates)
    identities = {point: RunIdentity(experiment(plan, point), {}, {}) for point in points}
    stages = planned(plan, searched, identities)
    seconds = {stage: sum(estimated_seconds(drawn)) for stage, drawn in stages.items()}
    if as_json:
        found = [
            {"stage": stage, "runs": len(drawn), "seconds": round(seconds[stage])}
            for stage, drawn in stages.items()
        ]
        print_json({**space_as_json(searched), "stages": found})
        return
    for point in searched.candidates:
        click.echo(searched.name(point))
    click.echo()
    lines = ((stage, len(drawn), f"{seconds[stage]:.0f}") for stage, drawn in stages.items())
    print_table(("STAGE", "RUNS", "SECONDS"), lines)
    total, runs = format_duration(sum(seconds.values())), sum(map(len, stages.values()))
    note(f"{counted(runs, 'run')}, about {total} on two quiet cores (estimated)")


def _written(plan: TunePlan, found: TuneResult, target: Path) -> Path | None:
    if found.recommended is None:
        return None
    write_atomically(target, profile_xml(plan, found, found.recommended))
    return target


def _print(found: TuneResult, target: Path, profile: Path | None, as_json: bool) -> None:
    if as_json:
        written = {"profile": str(profile) if profile else None, "results": str(target)}
        print_json(found_as_json(found) | written)
        return
    if found.outcomes:
        print_table(("RUNG", "RUNS", "MEDIAN S", "FATE", "CANDIDATE"), rows(found))
        click.echo()
    print_table(("CONFIRMED", "N", "MEDIAN S", "CV", "VERDICT"), finals(found))
    click.echo(found.verdict.in_words)
    note(f"all runs: {target}")
    if profile:
        note(f"profile: {profile}")
