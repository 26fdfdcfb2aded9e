"""`vas layout plan`: plans stripes so that each split lies on one OST."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from vas_core.cli import SizeType, json_option, print_json
from vas_layout.command.options import (
    cluster_option,
    osts_option,
    osts_to_plan,
    pool_option,
    split_option,
)
from vas_layout.planning import plan_stripes


@click.command()
@click.option("--size", type=SizeType(), required=True, help="The file's size.")
@split_option
@osts_option
@pool_option
@cluster_option
@json_option
def plan(
    size: int, split: int, osts: int | None, pool: str | None, map_file: Path | None, as_json: bool
) -> None:
    """Plan stripes so that each split lies on one OST.

    \b
    Example: vas layout plan --size 10G --split 128M --osts 4
    """
    found = plan_stripes(size, split, osts_to_plan(osts, pool, map_file), pool)
    if as_json:
        print_json({**asdict(found), "splits": found.splits, "lfs": found.lfs_arguments})
        return
    for reason in found.reasons:
        click.echo(reason)
    click.echo(f"lfs setstripe {' '.join(found.lfs_arguments)} FILE")
