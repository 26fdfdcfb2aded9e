"""`vas bench`: what VAS gains, measured in one run against what it replaces."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from vas_bench.arms import Comparison, draw, run_rounds, run_seconds
from vas_bench.layout import LayoutRates, files_of, made_files, measure
from vas_bench.placement import Job, Placement, simulate
from vas_bench.shuffle.commands import shuffle
from vas_cluster import default_path, load_cluster
from vas_core.cli import SizeType, json_option, note, print_json, print_table
from vas_core.errors import FoundDifferent
from vas_lab.arms import ARMS, BASE
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.spec import find_java, find_plugins
from vas_lab.state import default_directory
from vas_lab.terasort import Sizes, TeraSort

_USUAL_MOUNT = Path("/lustre")


@click.group()
def bench() -> None:
    """Measure one way of doing a thing against another, in turns."""


@bench.command()
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Use the files below it [default: files made on the Lustre mount].",
)
@click.option("--files", type=click.IntRange(1), default=50, show_default=True)
@click.option("--rounds", type=click.IntRange(1), default=5, show_default=True)
@click.option(
    "--at-least", type=float, default=50.0, show_default=True, help="Status 3 below this ratio."
)
@json_option
def layout(directory: Path | None, files: int, rounds: int, at_least: float, as_json: bool) -> None:
    """Time reading layouts by attribute and by `lfs`.

    Layouts per second: the extended attribute against one `lfs` process per file.

    \b
    Example: vas bench layout --dir /lustre/input --rounds 7
    """
    if directory:
        rates = measure(files_of(directory, files), rounds=rounds)
    else:
        with made_files(_mount(), files) as made:
            rates = measure(made, rounds=rounds)
    _print(rates, as_json)
    if rates.ratio < at_least:
        raise FoundDifferent(f"only {rates.ratio:.1f} times faster, not {at_least:g}")


def _mount() -> Path:
    path = default_path()
    return Path(load_cluster(path).lustre.mount) if path.exists() else _USUAL_MOUNT


def _print(rates: LayoutRates, as_json: bool) -> None:
    both = (rates.xattr, rates.lfs)
    if as_json:
        print_json(
            {
                "files": rates.files,
                "ratio": round(rates.ratio, 1),
                "layouts_per_second": [{**asdict(r), "spread": round(r.spread, 3)} for r in both],
            }
        )
        return
    rows = (
        (r.name, r.n, f"{r.median:.0f}", f"{r.lowest:.0f}", f"{r.highest:.0f}", f"{r.spread:.2f}")
        for r in both
    )
    print_table(("layouts/s by", "n", "median", "lowest", "highest", "spread"), rows)
    note(f"{rates.files} files: the attribute is {rates.ratio:.0f} times faster")


@bench.command()
@click.option("--nodes", type=click.IntRange(1), default=Job.nodes, show_default=True)
@click.option("--splits", type=click.IntRange(1), default=Job.splits, show_default=True)
@click.option(
    "--slots", type=click.IntRange(1), default=Job.slots, help="Tasks at a time per node."
)
@click.option("--dead", type=click.IntRange(0), default=0, help="Nodes that are down.")
@click.option("--slow", type=click.IntRange(0), default=0, help="Nodes four times as slow.")
@click.option("--skew", type=click.IntRange(0), default=0, help="All splits on so many nodes.")
@click.option("--uneven", is_flag=True, help="Splits at random instead of striped over all.")
@click.option("--node-wait", type=click.FloatRange(0), help="Seconds a task waits for its host.")
@click.option("--partner-wait", type=click.FloatRange(0), help="Seconds more for the HA partner.")
@click.option("--seed", type=click.IntRange(0), default=Job.seed, show_default=True)
@json_option
def placement(
    nodes: int,
    splits: int,
    slots: int,
    dead: int,
    slow: int,
    skew: int,
    uneven: bool,
    node_wait: float | None,
    partner_wait: float | None,
    seed: int,
    as_json: bool,
) -> None:
    """Simulate the placement of a large job.

    The scheduler plugin's own policy in virtual time: where the tasks run, how fast it decides.

    \b
    Examples: vas bench placement --nodes 1000 --splits 100000 --dead 5
    without any wait: vas bench placement --node-wait 0 --partner-wait 0
    """
    job = Job(nodes, splits, slots, dead, slow, skew, uneven, seed, node_wait, partner_wait)
    result = simulate(job, java=find_java() / "bin/java", plugins=find_plugins())
    if as_json:
        print_json(asdict(result))
    else:
        _print_placement(result)


def _print_placement(result: Placement) -> None:
    places = (
        ("data-local", result.data_local),
        ("on the HA partner", result.partner_local),
        ("elsewhere", result.other),
    )
    rows = ((name, f"{n}", f"{100 * n / result.decisions:.2f} %") for name, n in places)
    print_table(("tasks", "n", "share"), rows)
    note(
        f"{result.decisions_per_second} decisions/s, {result.work_per_decision:.1f} rows looked at"
        f" for each; the job takes {result.simulated_seconds} s of simulated time"
    )


@bench.command()
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


bench.add_command(shuffle)
