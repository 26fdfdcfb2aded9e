"""The command `vas bench run`."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

import click

from vas_bench.engine.play import Played, note_left, refuse_invalid
from vas_bench.engine.resume import left_to_do
from vas_bench.engine.rounds import Round, RunIdentity, draw_rounds
from vas_bench.options import PlanSession, dry_run_option, plan_options
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore, content_of
from vas_bench.run.conduct import conduct, planned_site, say_rounds, without_settings
from vas_bench.run.estimate import estimated_seconds
from vas_bench.run.experiments import Experiment, experiments
from vas_bench.run.jobs import PlannedSite
from vas_bench.run.plan import BenchPlan
from vas_bench.site.options import SiteOptions, site_options
from vas_core.cli import json_option, note, print_json
from vas_core.durations import format_duration
from vas_core.files import write_atomically
from vas_core.settings import read_yaml
from vas_core.shown import counted

_file = click.Path(path_type=Path, dir_okay=False)


@click.command()
@plan_options
@click.option("--report", type=_file, help="Also write a report of all runs in the file (HTML).")
@site_options
@dry_run_option
@json_option
def run(
    session: PlanSession,
    report: Path | None,
    site: SiteOptions | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run a plan of workloads on systems, in rounds.

    Every round runs each experiment once, in an order drawn by lot, and checks what it wrote. A run
    is a line in the file of results as soon as it ended: a plan that was interrupted goes on by
    --resume. What is INVALID is said with the reason, counted nowhere, and run again by --resume.
    A lab on this machine is made for it, or a site is used that is there.

    \b
    Examples: vas bench run bench/plans/quick.yaml --report quick.html
              vas bench run bench/plans/night-locality.yaml --out night.jsonl --budget 8h
              vas bench run bench/plans/night-locality.yaml --out night.jsonl --resume
              vas bench run bench/plans/night-scaling.yaml --dry-run
              vas bench run PLAN.yaml --cluster /etc/vas/cluster.yaml --directory /user/ann
    """
    plan = read_yaml(session.plan_file, BenchPlan)
    plan = plan.model_copy(update={"budget": session.budget or plan.budget})
    target, resume = session.target(plan.name), session.resume
    here = planned_site(plan, site, "bench-run")
    plan = here.plan
    if dry_run:
        _say(_left(here, target, resume), as_json)
        return
    here.check(experiments(plan))
    drawn = _drawn(plan, [here.identify(each) for each in experiments(plan)])
    with RunStore.open(target) as store:
        command = _command(session.plan_file, site)
        ended = conduct(
            here, drawn, store, file=target, resume=resume, command=command, budget=plan.budget
        )
        runs = store.runs
    written = _report(runs, report, plan) if report else None
    _print(ended, target, written, as_json)


def _command(plan_file: Path, site: SiteOptions | None) -> str:
    where = ["--cluster", site.cluster_file.name] if site else []
    return shlex.join(["vas", "bench", "run", plan_file.name, *where])


def _drawn(
    plan: BenchPlan, identities: Sequence[RunIdentity[Experiment]]
) -> list[Round[Experiment]]:
    return draw_rounds(identities, rounds=plan.rounds, warm_up=plan.warm_up, seed=plan.seed)


def _left(site: PlannedSite, file: Path, resume: bool) -> list[Round[Experiment]]:
    """Returns the rounds that would run; the file is only looked at."""
    plan = site.plan
    whole = map(site.identify, experiments(plan)) if resume else ()
    drawn = _drawn(plan, list(whole) or without_settings(experiments(plan)))
    if not resume or not file.exists():
        return drawn
    return left_to_do(drawn, content_of(file), site.environment(), file=file, resume=True)


def _say(drawn: Sequence[Round[Experiment]], as_json: bool) -> None:
    if as_json:
        seconds = estimated_seconds(drawn)
        found = [
            {"turn": each.title, "seconds": round(one)}
            for each, one in zip(drawn, seconds, strict=True)
        ]
        print_json({"turns": found, "estimated_seconds": round(sum(seconds))})
        return
    total = format_duration(say_rounds(drawn))
    note(f"{counted(len(drawn), 'run')}, about {total} on two quiet cores (estimated)")


def _report(runs: Sequence[BenchRun], target: Path, plan: BenchPlan) -> Path | None:
    if not any(run.counts for run in runs):
        note("no run counts, so no report is written")
        return None
    # The statistics of a report are slow to import, and few sessions write one.
    from vas_bench.report.facts import facts_of
    from vas_bench.report.page import html, page_of

    write_atomically(target, html(page_of(facts_of(runs), f"VAS benchmark: {plan.name}")))
    return target


def _print(ended: Played[Experiment], target: Path, report: Path | None, as_json: bool) -> None:
    invalid = [run for run in ended.made if run.invalid]
    if as_json:
        print_json(
            {
                "results": str(target),
                "report": str(report) if report else None,
                "made": [_as_json(run) for run in ended.made],
                "left": [each.title for each in ended.left],
            }
        )
    note(f"{counted(len(ended.made), 'run')}, {len(invalid)} INVALID: {target}")
    if report:
        note(f"report: {report}")
    note_left(ended.left)
    if ended.made:
        refuse_invalid(ended.made)


def _as_json(run: BenchRun) -> dict[str, object]:
    return {
        "id": run.id,
        "workload": run.workload,
        "system": run.system,
        "round": run.round,
        "warm_up": run.warm_up,
        "job_seconds": run.measures.get("job_seconds"),
        "invalid": run.invalid,
        "hosts": {name: where.model_dump() for name, where in run.hosts.items()},
    }
