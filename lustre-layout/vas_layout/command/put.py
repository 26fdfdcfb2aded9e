"""`vas layout put`: copies a file into Lustre with one stripe per split."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from vas_core.cli import json_option, note
from vas_core.errors import VasError
from vas_core.options import dry_run
from vas_core.shown import counted
from vas_layout import views
from vas_layout.command.options import (
    PATH,
    check_pool,
    cluster_option,
    osts_option,
    osts_to_plan,
    pool_option,
    split_option,
)
from vas_layout.ingest import Ingested, destination_of, put
from vas_layout.lfs import Lfs
from vas_layout.model import ALL_OSTS, Plain
from vas_layout.paths import size_of
from vas_layout.planning import StripePlan, plan_stripes


@click.command(name="put")
@click.argument("source", type=PATH)
@click.argument("destination")
@split_option
@osts_option
@pool_option
@cluster_option
@click.option(
    "--parallel",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Number of stripes copied at once.",
)
@dry_run()
@json_option
def put_command(
    source: Path,
    destination: str,
    split: int,
    osts: int | None,
    pool: str | None,
    map_file: Path | None,
    parallel: int,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Copy a file into Lustre with one stripe per split.

    Sets the layout first, copies in parallel, verifies by reading back, and gives the final name
    only to the whole file. After an interruption the same command resumes.

    \b
    Example: vas layout put big.csv /lustre/input/ --split 128M
    """
    size = size_of(source)
    final = destination_of(source, destination)
    planned = plan_stripes(size, split, osts_to_plan(osts, pool, map_file), pool)
    if dry_run:
        views.print_plan(f"would put {source} to {final}", planned, as_json)
        return
    check_pool(pool, final.parent)
    try:
        with views.progress(f"put {final.name}", size) as advance:
            done = put(source, final, planned, threads=parallel, progress=advance)
    except KeyboardInterrupt:
        note("stopped: run the same command again to resume")
        raise
    if not done.adjusted:
        _note_fewer(done, planned, final.parent)
    views.print_put(done, planned, as_json)


def _note_fewer(done: Ingested, planned: StripePlan, directory: Path) -> None:
    """Reports fewer stripes than requested, where the number of OSTs is known."""
    wanted: int | None = planned.stripe_count
    if wanted == ALL_OSTS:
        wanted = None
        with suppress(VasError):
            lfs, pool = Lfs(), planned.pool
            wanted = lfs.pool_osts(directory, pool) if pool else lfs.active_osts(directory)
    made = done.layout.stripe_count if isinstance(done.layout, Plain) else None
    if made is not None and wanted is not None and made < wanted:
        stripes = counted(made, "stripe")
        note(f"Lustre made {stripes} instead of {wanted}: the other OSTs are full or away")
