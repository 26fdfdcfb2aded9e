"""Files whose stripes break their splits: found by their layouts, put right by `lfs migrate`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import VasError
from vas_core.sizes import format_size
from vas_layout.errors import LayoutUnavailableError
from vas_layout.lfs import Lfs
from vas_layout.model import MDT, RELEASED, Composite, Foreign, Layout, Plain
from vas_layout.ownership import owned_bytes, runs
from vas_layout.paths import size_of, walk
from vas_layout.planning import StripePlan, first_broken_split, plan_stripes
from vas_layout.reasons import unavailable
from vas_layout.store import LayoutReader


@dataclass(frozen=True)
class Mismatch:
    """A file that should get other stripes."""

    path: Path
    file_size: int
    why: str
    plan: StripePlan


@dataclass(frozen=True)
class LeftAlone:
    """A file that `lfs migrate` must not touch: it would be recalled, or moved off the MDT."""

    path: Path
    file_size: int
    why: str


@dataclass(frozen=True)
class Wish:
    """The stripes wanted; `osts` None means all there are."""

    split_size: int
    osts: int | None = None
    pool: str | None = None


def find_mismatches(
    directory: Path, wish: Wish, reader: LayoutReader
) -> Iterator[Mismatch | LeftAlone | LayoutUnavailableError]:
    """The files below `directory` to be migrated or left alone, and what cannot be read.

    A file with several names is found once.
    """
    seen: set[tuple[int, int]] = set()
    for path in walk(directory):
        if isinstance(path, LayoutUnavailableError):
            yield path
            continue
        try:
            found = None if _seen(path, seen) else mismatch_of(path, wish, reader)
        except LayoutUnavailableError as unreadable:
            yield unreadable
            continue
        if found:
            yield found


def mismatch_of(path: Path, wish: Wish, reader: LayoutReader) -> Mismatch | LeftAlone | None:
    """Why a file's stripes do not fit the split, or None. Raises LayoutUnavailableError."""
    size = size_of(path)
    if size == 0:
        return None
    layout = reader.read(path)
    kept = _left_alone(layout)
    if kept:
        return LeftAlone(path, size, kept)
    plan = plan_stripes(size, wish.split_size, wish.osts, wish.pool)
    why = _why(layout, plan, wish)
    return Mismatch(path, size, why, plan) if why else None


def migrate(mismatch: Mismatch, lfs: Lfs, wish: Wish, reader: LayoutReader) -> None:
    """Migrates one file and reads back that it fits now. Raises VasError if it does not."""
    plan = mismatch.plan
    lfs.migrate(mismatch.path, size=plan.stripe_size, count=plan.stripe_count, pool=plan.pool)
    still = mismatch_of(mismatch.path, wish, reader)
    if isinstance(still, Mismatch):
        raise VasError(f"migrated, and still: {still.why}", where=str(mismatch.path))


def _seen(path: Path, seen: set[tuple[int, int]]) -> bool:
    """Whether another name of the file was met; only files with several are remembered."""
    try:
        status = path.lstat()
    except OSError as error:
        raise unavailable(error, str(path)) from error
    inode = (status.st_dev, status.st_ino)
    known = inode in seen
    if status.st_nlink > 1:
        seen.add(inode)
    return known


def _left_alone(layout: Layout) -> str | None:
    parts = [c.layout for c in layout.components] if isinstance(layout, Composite) else [layout]
    for part in parts:
        if isinstance(part, Foreign):
            return "foreign layout"
        if part.pattern & RELEASED:
            return "released to the archive"
        if part.pattern & MDT:
            return "data on the MDT"
    return None


def _why(layout: Layout, plan: StripePlan, wish: Wish) -> str | None:
    size = plan.file_size
    owned = owned_bytes(layout, 0, size)
    if owned[None]:
        reason = next(run.reason for run in runs(layout, 0, size) if run.reason)
        return f"{format_size(owned[None])} {reason}"
    broken = first_broken_split(layout, size, wish.split_size)
    if broken is not None:
        return f"{_stripes(layout)}: the split at {_split_start(broken, wish)} is on several OSTs"
    if wish.pool and isinstance(layout, Plain) and layout.pool != wish.pool:
        return f"in pool {layout.pool or 'none'}"
    osts = sum(1 for index in owned if index is not None)
    # -1, all OSTs: how many there are is not known, so neither is whether these are too few.
    if osts + _may_share(layout) < plan.stripe_count:
        return f"too few OSTs: {osts}, its {plan.splits} splits could be on {plan.stripe_count}"
    return None


def _may_share(layout: Layout) -> int:
    """1 where the one object of a progressive layout's first component may lie beside a later one.

    So `lustre:///` makes its files: the MDT chooses the OSTs of each component by itself.
    """
    if not isinstance(layout, Composite) or len(layout.components) == 1:
        return 0
    first = layout.components[0].layout
    return int(isinstance(first, Plain) and len(first.objects) == 1)


def _split_start(border: int, wish: Wish) -> int:
    return border // wish.split_size * wish.split_size


def _stripes(layout: Layout) -> str:
    if isinstance(layout, Composite):
        return f"{len(layout.components)} components"
    return f"stripes of {format_size(layout.stripe_size)}" if isinstance(layout, Plain) else ""
