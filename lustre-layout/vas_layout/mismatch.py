"""Files whose stripes break their splits: found by their layouts, put right by `lfs migrate`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import VasError
from vas_core.sizes import format_size
from vas_layout.errors import LayoutUnavailableError
from vas_layout.lfs import Lfs
from vas_layout.model import Composite, Layout, Plain
from vas_layout.ownership import owned_bytes, runs
from vas_layout.paths import files_below, size_of
from vas_layout.planning import StripePlan, first_broken_split, plan_stripes
from vas_layout.store import LayoutReader


@dataclass(frozen=True)
class Mismatch:
    """A file that should get other stripes."""

    path: Path
    file_size: int
    why: str
    plan: StripePlan


@dataclass(frozen=True)
class Wish:
    """The stripes wanted; `osts` None means all there are."""

    split_size: int
    osts: int | None = None
    pool: str | None = None


def find_mismatches(
    directory: Path, wish: Wish, reader: LayoutReader
) -> Iterator[Mismatch | LayoutUnavailableError]:
    """The files below `directory` to be migrated, and the files whose layout cannot be read."""
    for path in files_below(directory):
        try:
            found = mismatch_of(path, wish, reader)
        except LayoutUnavailableError as unreadable:
            yield unreadable
            continue
        if found:
            yield found


def mismatch_of(path: Path, wish: Wish, reader: LayoutReader) -> Mismatch | None:
    """Why a file's stripes do not fit the split, or None. Raises LayoutUnavailableError."""
    size = size_of(path)
    if size == 0:
        return None
    why = _why(reader.read(path), size, wish)
    plan = plan_stripes(size, wish.split_size, wish.osts, wish.pool)
    return Mismatch(path, size, why, plan) if why else None


def migrate(mismatch: Mismatch, lfs: Lfs, wish: Wish, reader: LayoutReader) -> None:
    """Migrates one file and reads back that it fits now. Raises VasError if it does not."""
    plan = mismatch.plan
    lfs.migrate(mismatch.path, size=plan.stripe_size, count=plan.stripe_count, pool=plan.pool)
    still = mismatch_of(mismatch.path, wish, reader)
    if still:
        raise VasError(f"migrated, and still: {still.why}", where=str(mismatch.path))


def _why(layout: Layout, size: int, wish: Wish) -> str | None:
    unknown = owned_bytes(layout, 0, size)[None]
    if unknown:
        reason = next(run.reason for run in runs(layout, 0, size) if run.reason)
        return f"{format_size(unknown)} {reason}"
    broken = first_broken_split(layout, size, wish.split_size)
    if broken is not None:
        return f"{_stripes(layout)}: the split at {_split_start(broken, wish)} is on several OSTs"
    if wish.pool and isinstance(layout, Plain) and layout.pool != wish.pool:
        return f"in pool {layout.pool or 'none'}"
    return None


def _split_start(border: int, wish: Wish) -> int:
    return border // wish.split_size * wish.split_size


def _stripes(layout: Layout) -> str:
    if isinstance(layout, Composite):
        return f"{len(layout.components)} components"
    return f"stripes of {format_size(layout.stripe_size)}" if isinstance(layout, Plain) else ""
