"""The command `vas bench hsph`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from vas_bench.csvfile import read_table
from vas_bench.engine.play import note_left
from vas_bench.hsph.energy import METERED
from vas_bench.hsph.metric import (
    DIFFERENT_SCALE,
    NOT_TPC,
    RECORDS_PER_TB,
    SCALE_FACTORS,
    HsphResult,
    compared,
)
from vas_bench.hsph.price import PriceList, price_list
from vas_bench.hsph.record import results_of
from vas_bench.hsph.session import HsphRequest, played, steps
from vas_bench.options import budget_option, dry_run_option, read_runs, results_path
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore
from vas_bench.results.systems import SYSTEM_OF
from vas_bench.run.conduct import planned_site
from vas_bench.run.experiments import Experiment, experiments
from vas_bench.run.plan import BenchPlan, made_plan
from vas_bench.site.options import SiteOptions, site_options
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.durations import format_duration
from vas_core.errors import BadInput
from vas_core.progress import Step
from vas_core.table import print_table
from vas_yarn.jobs.terasort import ROW_BYTES
from vas_yarn.small_cluster import MAX_HOSTS

# The specification's steps, going on downwards: its smallest data set is too large for a lab.
_LAB_SCALE_FACTORS = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
_CHOICES = [f"{scale:g}" for scale in (*_LAB_SCALE_FACTORS, *SCALE_FACTORS)]
_file = click.Path(path_type=Path, dir_okay=False)
_WEEK_SECONDS = 7 * 24 * 3600


@click.command()
@click.option(
    "--scale-factor",
    type=click.Choice(_CHOICES),
    default="0.0003",
    show_default=True,
    help="TB (10^12 bytes) to be sorted; below 1 for a lab.",
)
@click.option(
    "--system",
    type=click.Choice(list(SYSTEM_OF.values())),
    default="vas",
    show_default=True,
    help="System that every phase runs on.",
)
@click.option(
    "--hosts",
    type=click.IntRange(1, MAX_HOSTS),
    default=4,
    show_default=True,
    help="Hosts of the lab.",
)
@click.option("--split", type=SizeType(), default="32M", show_default=True, help="Input of a map.")
@click.option(
    "--reducers", type=click.IntRange(1), default=4, show_default=True, help="Number of reducers."
)
@click.option("--prices", type=results_path, help="Price list (CSV): item,count,price,currency.")
@click.option("--out", type=_file, default="hsph.jsonl", show_default=True, help="File of results.")
@click.option("--show", type=results_path, help="Print what a file of results holds; run nothing.")
@click.option("--resume", is_flag=True, help="Run nothing if FILE of --out has both runs.")
@budget_option
@site_options
@dry_run_option
@json_option
def hsph(
    scale_factor: str,
    system: str,
    hosts: int,
    split: int,
    reducers: int,
    prices: Path | None,
    out: Path,
    show: Path | None,
    resume: bool,
    budget: int | None,
    site: SiteOptions | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Five phases, twice: an HSph-like metric, no TPC result.

    Generate, check, sort, check and validate, strictly one after another, with Apache's TeraGen,
    TeraSort and TeraValidate; then all of it again. The lower metric of the two is the result:
    scale factor / hours, checks and gaps between phases included. Interrupted or failed, there is
    no result.

    \b
    Examples: vas bench hsph
              vas bench hsph --scale-factor 0.001 --system yarn-lustre --prices prices.csv
              vas bench hsph --scale-factor 1 --cluster /etc/vas/cluster.yaml --directory /user/ann
              vas bench hsph --show hsph.jsonl --prices prices.csv --json

    \f
    Raises BadInput for a file without such runs.
    """
    scale = float(scale_factor)
    plan = _plan(system, round(scale * RECORDS_PER_TB) * ROW_BYTES, split, reducers, hosts)
    (experiment,) = experiments(plan)
    if dry_run:
        _say(steps(experiment, in_lab=site is None), as_json)
        return
    priced = price_list(read_table(prices)) if prices else None
    if show:
        _show(show, priced, as_json)
        return
    runs = _made(plan, experiment, scale, out, site, resume, budget)
    _print(*results_of(runs, priced), as_json)
    note(f"both runs: {out}")


def _plan(system: str, size_bytes: int, split: int, reducers: int, hosts: int) -> BenchPlan:
    parameters = {"size": size_bytes, "split": split, "reducers": reducers, "hosts": hosts}
    # Nothing but files may go between the runs: the page cache stays as it is.
    return made_plan(
        name="hsph",
        workloads="terasort",
        systems=system,
        parameters=parameters,
        drop_caches=False,
        # A result takes what it takes.
        run_limit=_WEEK_SECONDS,
    )


def _say(found: Sequence[Step], as_json: bool) -> None:
    total = sum(step.expected_seconds for step in found)
    if as_json:
        rows = [{"step": step.name, "seconds": round(step.expected_seconds)} for step in found]
        print_json({"disclaimer": NOT_TPC, "steps": rows, "estimated_seconds": round(total)})
        return
    print_table(("STEP", "SECONDS"), ((s.name, f"{s.expected_seconds:.0f}") for s in found))
    note(f"about {format_duration(total)} on two quiet cores (estimated); {NOT_TPC}")


def _show(file: Path, priced: PriceList | None, as_json: bool) -> None:
    results, rest = results_of(read_runs(file, False), priced)
    if not results and not rest:
        raise BadInput("holds no HSph-like runs", where=str(file), hint="`vas bench hsph` makes it")
    _print(results, rest, as_json)


def _made(
    plan: BenchPlan,
    experiment: Experiment,
    scale: float,
    out: Path,
    site: SiteOptions | None,
    resume: bool,
    budget: int | None,
) -> Sequence[BenchRun]:
    it = experiment
    where = f"--cluster {site.cluster_file.name}" if site else f"--hosts {it.hosts}"
    sizes = f"{where} --split {it.split_bytes} --reducers {it.reducers}"
    command = f"vas bench hsph --scale-factor {scale:g} --system {it.system} {sizes}"
    here = planned_site(plan, site, "bench-hsph")
    with RunStore.open(out) as store:
        before = len(store.runs)
        request = HsphRequest(scale, command, note, store, resume, budget)
        ended = played(request, here, in_lab=site is None)
        note_left(ended.left)
        # What was resumed and is whole is shown as it is.
        return store.runs[before:] or store.runs


def _print(results: Sequence[HsphResult], rest: Sequence[BenchRun], as_json: bool) -> None:
    for run in rest:
        note(f"{run.id}: {run.invalid or 'its other run is not there'}; no result")
    comparisons = _comparisons(results)
    if as_json:
        found = [each.as_json() for each in results]
        print_json({"disclaimer": NOT_TPC, "results": found, "comparisons": comparisons})
        return
    for each in results:
        click.echo("\n".join(each.lines()))
        if each.reported.joules is not None:
            note(f"energy: {METERED}")
    for line in comparisons:
        click.echo(line)


def _comparisons(results: Sequence[HsphResult]) -> list[str]:
    """Each result against the first of its scale factor."""
    bases: dict[float, HsphResult] = {}
    found: list[str] = []
    for each in results:
        base = bases.setdefault(each.reported.scale_factor, each)
        if base is not each:
            found += compared(each, base)
    return [*found, *([DIFFERENT_SCALE] * (len(bases) > 1))]
