"""Prints the demo's tables for people."""

from __future__ import annotations

import shutil
from collections.abc import Iterable

import click

from vas_bench.demo.arms import DEMO_ARMS, WHAT_IT_SHOWS, ArmResult
from vas_core.program import as_called
from vas_core.table import print_table
from vas_yarn.jobs.systems import BASE

_ARM_COLUMNS = (
    *("ARM", "MAPS", "CONTAINERS", "DATA-LOCAL", "RACK-LOCAL", "OTHER", "FROM LOCAL OST"),
    *("JOB s", f"/ {BASE}", "CPU s", "CHECKSUM"),
)


def print_arms(results: Iterable[ArmResult]) -> None:
    """Prints the demo's table, and explains its rows and columns."""
    print_table(_ARM_COLUMNS, (_arm_row(result) for result in results))
    click.echo()
    for arm in DEMO_ARMS:
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
