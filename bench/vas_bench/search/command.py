"""The command `vas affinity bench`."""

from __future__ import annotations

import sys
from math import ceil

import click
from rich.console import Console
from rich.progress import Progress

from vas_affinity.search import Effort
from vas_bench.search.measured import as_json as bench_json
from vas_bench.search.measured import big_plan, big_problem, gap, joint_gap, speed
from vas_core.cli import RealRange, json_option, print_json
from vas_core.table import print_table

_SPEED_SECONDS = 0.4
_INSTANCES_A_HOST = 10  # an integer program takes longer


@click.command()
@click.option(
    "--seed", type=click.IntRange(0), default=0, help="Random seed of the instances [default: 0]."
)
@click.option(
    "--instances",
    type=click.IntRange(1),
    default=100,
    help="Number of instances for the gap [default: 100].",
)
@click.option("--budget", type=RealRange(0, min_open=True), help="Seconds for the big plan.")
@json_option
def bench(seed: int, instances: int, budget: float | None, as_json: bool) -> None:
    """Measure the search: speed, distance from the optimum.

    Nothing is kept from an earlier run. What-ifs are evaluated by one process on a host of 256
    CPUs and 500 threads; the plan is of that host, from threads placed at random; the gap is of
    local search alone to the optimum that branch and bound proves, the worst of all instances. One
    instance in ten is also a host with a guest, planned jointly: its gap is to a bound of HiGHS.

    \b
    Examples: vas affinity bench
              vas affinity bench --seed 7 --instances 30 --json
    """
    hosts = ceil(instances / _INSTANCES_A_HOST)
    console = Console(file=sys.stderr)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("speed, a big plan, the gap", total=instances + hosts + 2)
        fast = speed(big_problem(seed), seed, _SPEED_SECONDS)
        progress.advance(task)
        plan = big_plan(seed, Effort(seed=seed, budget_seconds=budget))
        progress.advance(task)
        seeds = range(seed, seed + instances)
        from_best = gap(seeds, lambda: progress.advance(task))
        joint = joint_gap(range(seed, seed + hosts), lambda: progress.advance(task))
    if as_json:
        print_json(bench_json(seed, fast, plan, from_best, joint))
        return
    rows = [
        ("what-ifs a second", f"{fast.what_ifs_per_second:,.0f}"),
        ("what-ifs a CPU second", f"{fast.what_ifs / fast.cpu_seconds:,.0f}"),
        (f"plan of {plan.cpus} CPUs, {plan.threads} threads", f"{plan.seconds:.2f} s"),
        ("its CPU time", f"{plan.cpu_seconds:.2f} s"),
        ("its score, from that of a random start", f"{plan.score:.0f} of {plan.start_score:.0f}"),
        (f"worst gap of {from_best.proved} optima", f"{from_best.worst:.3%}"),
        ("mean gap", f"{from_best.mean:.3%}"),
        (f"worst gap of {joint.instances} joint plans", f"{joint.worst:.3%}"),
    ]
    print_table(("MEASURED", "IS"), rows)
