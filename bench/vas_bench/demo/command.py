"""The command `vas demo`."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

from vas_bench.demo.arms import (
    DEMO_ARMS,
    MORE_ARMS,
    START,
    WHAT_IT_SHOWS,
    ArmResult,
    Done,
    check_room,
    run_arms,
    steps,
    with_ratios,
)
from vas_bench.demo.spark import run_spark_demo
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.errors import BadInput, VasError
from vas_core.program import as_called
from vas_core.progress import Steps
from vas_core.table import print_table
from vas_lab.hadoop.shuffled import shuffled_properties
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.state import default_directory, is_running
from vas_yarn.jobs.systems import BASE, Arm
from vas_yarn.jobs.terasort import TeraSortSizes
from vas_yarn.small_cluster import MAX_HOSTS

_ARM_COLUMNS = (
    *("ARM", "MAPS", "CONTAINERS", "DATA-LOCAL", "RACK-LOCAL", "OTHER", "FROM LOCAL OST"),
    *("JOB s", f"/ {BASE}", "CPU s", "CHECKSUM"),
)


def _typed(size: int, hosts: int, more: str | None) -> str:
    mib, rest = divmod(size, 1 << 20)
    arms = f" --arms {more}" if more else ""
    return f"vas demo --size {size if rest else f'{mib}M'} --hosts {hosts}{arms}"


@click.command()
@click.option(
    "--size",
    type=SizeType(),
    default="256M",
    show_default=True,
    help="Data to sort; at least 16M a host.",
)
@click.option(
    "--hosts",
    type=click.IntRange(1, MAX_HOSTS),
    default=4,
    show_default=True,
    help="Number of storage servers.",
)
@click.option(
    "--arms",
    "more",
    type=click.Choice(list(MORE_ARMS)),
    help="Run further arms: jbs, map output on the nodes' own disks.",
)
@click.option("--spark", is_flag=True, help="Sort by Spark instead, with its shuffle and VAS's.")
@click.option("--keep", is_flag=True, help="Leave the lab up, to look around in (--name demo).")
@click.option("--yes", is_flag=True, help="Install missing packages without asking (see ./vas).")
@json_option
def demo(
    size: int, hosts: int, more: str | None, spark: bool, keep: bool, yes: bool, as_json: bool
) -> None:
    """Run TeraSort on the same data, four ways or six, in a lab.

    YARN-Lustre: the file system answers no hosts, as any shared file system does.
    Real hosts: it answers each stripe's VM; YARN's scheduler is as it comes.
    VAS placement: the plugin also makes YARN wait, for a bounded time, for that VM.
    VAS: and map output is written once to Lustre and merged from there, and a container runs one
    task after another.
    JBS and JBS, own collector (--arms jbs): map output stays on the nodes' own disks, and the
    daemon vas-shuffled copies it; stock's maps write it, or VAS's collector.

    With --spark another sort runs by Spark, which is fetched once (450 MB): with its own shuffle,
    and with map output on Lustre.

    It ends by writing a report, one HTML file, and saying where; with --spark by a table alone.
    Interrupted, it leaves no process, namespace or mount behind.

    \b
    Examples: ./vas demo
              ./vas demo --size 768M --keep
              ./vas demo --arms jbs
              ./vas demo --spark
              ./vas demo --yes --json

    \f
    Raises BadInput for both --arms and --spark, VasError while another demo is up.
    """
    if spark and more:
        raise BadInput("one of the two", where="--spark and --arms", hint="leave one out")
    sizes = TeraSortSizes.of(size, hosts)
    directory = default_directory("demo")
    check_no_demo(directory)
    check_room(size, directory)
    if spark:
        options = LabOptions(state_dir=directory, hosts=hosts)
        run_spark_demo(options, size, keep=keep, as_json=as_json)
    else:
        _sort_in_arms(directory, sizes, more, size, hosts, keep=keep, as_json=as_json)


def _sort_in_arms(
    directory: Path,
    sizes: TeraSortSizes,
    more: str | None,
    size: int,
    hosts: int,
    *,
    keep: bool,
    as_json: bool,
) -> None:
    # Statistics take a second to import, which `vas --help` need not wait for.
    from vas_bench.demo.report import write_report

    arms = [*DEMO_ARMS, *(MORE_ARMS[more] if more else ())]
    daemon = shuffled_properties() if more else {}
    options = LabOptions(state_dir=directory, hosts=hosts, properties=daemon)
    here, done = _run(options, sizes, arms, keep)
    results = with_ratios([ArmResult.of(each) for each in done])
    if as_json:
        print_json({"arms": [asdict(result) for result in results]})
        note(WHAT_IT_SHOWS)
    else:
        print_arms(results, arms)
    note(f"report: {write_report(here.spec, done, sizes, hosts, _typed(size, hosts, more))}")
    if keep:
        note(_what_is_next(done[-1].job.application_id))


def check_no_demo(directory: Path) -> None:
    """Raises VasError while the lab of an earlier demo is up."""
    if is_running(directory):
        hint = "end it by `vas lab down --name demo`, then run `vas demo` again"
        raise VasError("the lab of an earlier demo is up", where=str(directory), hint=hint)


def _what_is_next(application: str) -> str:
    """Returns what to look at in a lab that stays, the last sort first."""
    return (
        "the lab is up; next:\n"
        f"  `vas lab shell --name demo -- vas job locality {application}`\n"
        "      where each map of the last sort ran, and why\n"
        "  `vas lab shell --name demo`   a shell there\n"
        "  `vas lab down --name demo`    its end"
    )


def _run(
    options: LabOptions, sizes: TeraSortSizes, arms: Sequence[Arm], keep: bool
) -> tuple[Lab, list[Done]]:
    """Starts a lab and runs the arms in it; ends the lab, unless the user wants to `keep` it."""
    with Steps.show(steps(arms), options.state_dir / "step-seconds.json") as progress:
        with progress.step(START):
            here = Lab.start(options)
        with ExitStack() as ending:
            ending.enter_context(here)
            done = list(run_arms(here, sizes, arms, progress))
            if keep:
                here.detach()
                ending.pop_all()
    return here, done


def print_arms(results: Iterable[ArmResult], arms: Iterable[Arm]) -> None:
    """Prints the demo's table, and explains its rows and columns."""
    print_table(_ARM_COLUMNS, (_arm_row(result) for result in results))
    click.echo()
    for arm in arms:
        click.echo(_wrapped(f"{arm.name}: {arm.explanation}"))
    click.echo(_wrapped(as_called(WHAT_IT_SHOWS)))


def _wrapped(text: str) -> str:
    return click.wrap_text(text, shutil.get_terminal_size().columns, subsequent_indent="  ")


def _arm_row(arm: ArmResult) -> tuple[object, ...]:
    started = (arm.total_maps, arm.containers_started)
    maps = (*started, arm.data_local_maps, arm.rack_local_maps, arm.other_maps)
    share = f"{100 * arm.local_input_bytes / max(1, arm.input_bytes):.1f}%"
    ratio = "" if arm.job_ratio is None else f"{arm.job_ratio:.2f}"
    times = (f"{arm.job_seconds:.1f}", ratio, f"{arm.cpu_seconds:.1f}")
    return (arm.name, *maps, share, *times, arm.checksum)
