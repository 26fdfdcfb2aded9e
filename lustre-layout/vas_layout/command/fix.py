"""`vas layout fix`: finds files whose splits lie on several OSTs, and migrates them."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import click

from vas_core.cli import json_option, note
from vas_core.errors import VasError
from vas_core.options import dry_run
from vas_core.shown import counted, shown
from vas_core.sizes import format_size
from vas_layout import views
from vas_layout.command.options import (
    check_pool,
    cluster_option,
    osts_option,
    osts_to_plan,
    pool_option,
    split_option,
)
from vas_layout.errors import LayoutUnavailableError
from vas_layout.lfs import Lfs
from vas_layout.mismatch import LayoutTarget, LeftAlone, Mismatch, find_mismatches, migrate
from vas_layout.planning import plan_stripes
from vas_layout.store import LayoutReader


@click.command()
@click.argument("directory", type=click.Path(path_type=Path, exists=True, file_okay=False))
@split_option
@osts_option
@pool_option
@cluster_option
@click.option("--apply", is_flag=True, help="Migrate these files by `lfs migrate`.")
@dry_run()
@json_option
def fix(
    directory: Path,
    split: int,
    osts: int | None,
    pool: str | None,
    map_file: Path | None,
    apply: bool,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Find files whose splits lie on several OSTs.

    With --apply, these files are migrated to new stripes.

    \b
    Examples: vas layout fix /lustre/input --split 128M
              vas layout fix /lustre/input --split 128M --apply
    """
    reader, target = LayoutReader(), LayoutTarget(split, osts_to_plan(osts, pool, map_file), pool)
    plan_stripes(0, split, target.osts, pool)
    reader.refuse_other_file_systems(directory)
    check_pool(pool, directory)
    target = _within_reach(target, directory, asked=osts is not None)
    found: list[Mismatch | LeftAlone] = []
    unreadable = 0
    for one in find_mismatches(directory, target, reader):
        if isinstance(one, LayoutUnavailableError):
            note(f"vas: {one}")
            unreadable += 1
        else:
            found.append(one)
    changing = apply and not dry_run
    results = {one.path: _result(one, changing, target, reader) for one in found}
    views.print_mismatches(found, results, as_json)
    if unreadable:
        note(f"not read: {counted(unreadable, 'path')}, named above")
    elif not found and not as_json:
        note("no file has a split on several OSTs")
    return 1 if unreadable or "failed" in results.values() else 0


def _result(
    one: Mismatch | LeftAlone, changing: bool, target: LayoutTarget, reader: LayoutReader
) -> str:
    if isinstance(one, LeftAlone):
        return "left alone"
    return _migrated(one, target, reader) if changing else "found"


def _migrated(one: Mismatch, target: LayoutTarget, reader: LayoutReader) -> str:
    note(f"migrating {shown(one.path)} ({format_size(one.file_size)})")
    try:
        return migrate(one, Lfs(), target, reader)
    except VasError as failed:
        note(f"vas: {failed}")
        return "failed"


def _within_reach(target: LayoutTarget, directory: Path, *, asked: bool) -> LayoutTarget:
    """The target limited to pools' sizes, and to OSTs that are active."""

    @cache
    def members(pool: str) -> int | None:
        with suppress(VasError):
            return Lfs().pool_osts(directory, pool)
        return None

    osts = target.osts
    if osts is not None and not asked:
        with suppress(VasError):
            active = Lfs().active_osts(directory)
            if 0 < active < osts:
                note(f"{osts - active} of {osts} OSTs in the map are inactive: not planned for")
                osts = active
    return replace(target, osts=osts, members=members)
