"""`vas bench arms`."""

from __future__ import annotations

import click

from vas_bench.arms.rounds import Comparison, draw, run_rounds, run_seconds
from vas_core.cli import SizeType, json_option, note, print_json, print_table
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.state import default_directory
from vas_yarn.jobs.systems import ARMS, BASE
from vas_yarn.jobs.terasort import TeraSort
from vas_yarn.jobs.terasort import TeraSortSizes as Sizes


@click.command()
@click.option("--size", type=SizeType(), default="768M", show_default=True, help="Of the input.")
@click.option("--hosts", type=click.IntRange(1, 64), default=4, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option(
    "--arm",
    "names",
    multiple=True,
    type=click.Choice([arm.name for arm in ARMS]),
    help="Only this arm; repeatable [default: all].",
)
@click.option(
    "--base",
    type=click.Choice([arm.name for arm in ARMS]),
    default=BASE,
    show_default=True,
    help="The arm the others are compared with.",
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the order.")
@click.option("--dry-run", is_flag=True, help="Say what would run and how long it takes.")
@json_option
def arms(
    size: int,
    hosts: int,
    rounds: int,
    names: tuple[str, ...],
    base: str,
    seed: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run the demo's arms in turns, and compare their times.

    Every round sorts the same data once in each arm, in an order drawn by lot, and validates what
    was written. Ratios of medians come with a 95 % interval and a significance test.

    \b
    Examples: vas bench arms --rounds 5
              vas bench arms --arm "real hosts" --arm VAS --rounds 9 --json
    """
    chosen = [arm for arm in ARMS if not names or arm.name in names or arm.name == base]
    sizes = Sizes.of(size, hosts)
    if dry_run:
        orders = draw(chosen, rounds=rounds, seed=seed)
        rows = [(number, arm.name) for number, order in enumerate(orders, 1) for arm in order]
        print_table(("ROUND", "ARM"), rows)
        minutes = 1 + len(rows) * run_seconds(size / (1 << 30)) / 60
        note(f"about {minutes:.0f} min on two quiet cores")
        return
    with Lab.start(LabOptions(state_dir=default_directory("bench"), hosts=hosts)) as here:
        job = TeraSort(here, sizes, "/bench")
        job.generate()
        samples = run_rounds(job, chosen, rounds=rounds, seed=seed, say=note)
        found = Comparison(tuple(samples), base)
    if as_json:
        print_json(found.as_json())
        return
    print_table(("arm", "data-local", "job s", "CPU s", f"job / {base}", "CPU"), found.rows())
