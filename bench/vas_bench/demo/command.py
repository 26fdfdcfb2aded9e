"""The command `vas demo`."""

from __future__ import annotations

from contextlib import ExitStack

import click

from vas_bench.demo.arms import (
    START,
    WHAT_IT_SHOWS,
    ArmResult,
    check_room,
    run_arms,
    steps,
    with_ratios,
)
from vas_bench.demo.views import print_arms
from vas_core.cli import SizeType, json_option, note, print_json
from vas_core.progress import Steps
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.state import default_directory
from vas_yarn.jobs.terasort import TeraSortSizes
from vas_yarn.small_cluster import MAX_HOSTS


def _typed(size: int, hosts: int) -> str:
    mib, rest = divmod(size, 1 << 20)
    return f"vas demo --size {size if rest else f'{mib}M'} --hosts {hosts}"


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
@click.option("--keep", is_flag=True, help="Leave the lab up, to look around in (--name demo).")
@click.option("--yes", is_flag=True, help="Install missing packages without asking (see ./vas).")
@json_option
def demo(size: int, hosts: int, keep: bool, yes: bool, as_json: bool) -> None:
    """Run TeraSort on the same data, four ways, in a lab.

    YARN-Lustre: the file system answers no hosts, as any shared file system does.
    Real hosts: it answers each stripe's VM; YARN's scheduler is as it comes.
    VAS placement: the plugin also makes YARN wait, for a bounded time, for that VM.
    VAS: and map output is written once to Lustre and merged from there, and a container runs one
    task after another.

    It ends by writing a report, one HTML file, and saying where. Interrupted, it leaves no process,
    namespace or mount behind.

    \b
    Examples: ./vas demo
              ./vas demo --size 768M --keep
              ./vas demo --yes --json
    """
    # Statistics take a second to import, which `vas --help` need not wait for.
    from vas_bench.demo.report import write_report

    sizes = TeraSortSizes.of(size, hosts)
    directory = default_directory("demo")
    check_room(size, directory)
    with Steps.show(steps(), directory / "step-seconds.json") as progress:
        with progress.step(START):
            here = Lab.start(LabOptions(state_dir=directory, hosts=hosts))
        with ExitStack() as ending:
            ending.enter_context(here)
            done = list(run_arms(here, sizes, progress))
            if keep:
                here.detach()
                ending.pop_all()
    results = with_ratios([ArmResult.of(each) for each in done])
    if as_json:
        print_json({"arms": [result.as_json() for result in results]})
        note(WHAT_IT_SHOWS)
    else:
        print_arms(results)
    note(f"report: {write_report(here.spec, done, sizes, hosts, _typed(size, hosts))}")
    if keep:
        note("the lab is up: `vas lab shell --name demo`, `vas lab down --name demo`")
