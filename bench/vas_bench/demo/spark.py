"""The Spark part of `vas demo`: one sort, with Spark's own shuffle and with VAS's."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import asdict

import click

from vas_bench.spark.arms import SPARK_ARMS, SparkResult, run_arms, steps
from vas_core.cli import note, print_json
from vas_core.progress import Step, Steps
from vas_core.table import print_table
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_yarn.spark.eventlog import PLACES
from vas_yarn.spark.installation import install_spark

_START = "start the lab"
_COLUMNS = ("ARM", "TASKS", "NODE-LOCAL", "FROM LOCAL OST", "SORT s", "ROWS", "CHECKSUM")


def run_spark_demo(options: LabOptions, size: int, *, keep: bool, as_json: bool) -> None:
    """Runs the sort in both arms, and prints them. Raises VasError when an output is not right."""
    install_spark(note)
    with Steps.show(
        [Step(_START, 25), *steps(SPARK_ARMS)], options.state_dir / "spark-seconds.json"
    ) as progress:
        with progress.step(_START):
            lab = Lab.start(options)
        with ExitStack() as ending:
            ending.enter_context(lab)
            done = list(run_arms(lab, size, SPARK_ARMS, progress))
            if keep:
                lab.detach()
                ending.pop_all()
    if as_json:
        print_json({"arms": [asdict(result) for result in done]})
    else:
        _print(done)
    if keep:
        note(f"next: `vas lab shell --name demo -- vas job locality {done[-1].application}`")


def _print(done: list[SparkResult]) -> None:
    print_table(_COLUMNS, (_cells(result) for result in done))
    click.echo()
    for arm in SPARK_ARMS:
        click.echo(f"{arm.name}: {arm.explanation}")
    click.echo("One run on one disk proves nothing of speed; places and checksums it shows.")


def _cells(result: SparkResult) -> tuple[object, ...]:
    share = f"{100 * result.read_local / max(1, result.read):.1f}%"
    total, local = sum(result.tasks.values()), result.tasks.get(PLACES[0], 0)
    return (result.name, total, local, share, f"{result.seconds:.1f}", result.rows, result.checksum)
