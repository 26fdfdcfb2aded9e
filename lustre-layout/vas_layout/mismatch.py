"""Finds files whose stripes break their splits, and migrates them with `lfs migrate`."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import VasError
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_layout.errors import LayoutUnavailableError
from vas_layout.lfs import Lfs
from vas_layout.model import (
    COMPONENT_FLAG_NAMES,
    EXTENSION,
    INIT,
    MDT,
    OVERSTRIPING,
    RAID0,
    RELEASED,
    Composite,
    Foreign,
    Layout,
    Plain,
    names_of,
)
from vas_layout.ownership import owned_bytes, unowned_reason
from vas_layout.paths import size_of, walk
from vas_layout.planning import StripePlan, first_broken_split, plan_stripes
from vas_layout.reasons import unavailable
from vas_layout.store import LayoutReader

_IN_USE = (errno.EBUSY, errno.EAGAIN)
# The state of mirrors in a composite's flags (LCM_FL_FLR_MASK).
_FLR_STATE = 0x3
_UNDERSTOOD = RAID0 | OVERSTRIPING


@dataclass(frozen=True)
class Mismatch:
    """A file that should get other stripes, with the reason and the plan.

    `osts`: the file's number of OSTs, if only this number is wrong; else None.
    """

    path: Path
    file_size: int
    why: str
    plan: StripePlan
    osts: int | None = None


@dataclass(frozen=True)
class LeftAlone:
    """A file that must not be migrated, as it would lose a property that `why` names."""

    path: Path
    file_size: int
    why: str


@dataclass(frozen=True)
class LayoutTarget:
    """Stripes that files should have: split size in bytes, number of OSTs (None: all) and pool.

    `members` returns the number of OSTs in a pool, None if it is not known.
    """

    split_size: int
    osts: int | None = None
    pool: str | None = None
    members: Callable[[str], int | None] = lambda _: None

    def osts_in(self, pool: str | None) -> int | None:
        """Returns the number of OSTs that a file in this pool can use; None if not known."""
        if pool is None or (self.osts is None and pool == self.pool):
            return self.osts
        members = self.members(pool)
        if members is None:
            return self.osts if pool == self.pool else None
        return max(1, min(self.osts or members, members))


def find_mismatches(
    directory: Path, target: LayoutTarget, reader: LayoutReader
) -> Iterator[Mismatch | LeftAlone | LayoutUnavailableError]:
    """Yields files below `directory` to migrate or leave alone, and errors of unreadable ones.

    A file with several names is yielded once. Raises BadInput if no stripe can be as long as the
    target's split.
    """
    seen: set[tuple[int, int]] = set()
    for path in walk(directory):
        if isinstance(path, LayoutUnavailableError):
            yield path
            continue
        try:
            found = None if _seen(path, seen) else mismatch_of(path, target, reader)
        except LayoutUnavailableError as unreadable:
            yield unreadable
            continue
        if found:
            yield found


def mismatch_of(
    path: Path, target: LayoutTarget, reader: LayoutReader
) -> Mismatch | LeftAlone | None:
    """Returns why a file's stripes do not fit the split, or must stay; None if they fit.

    Raises LayoutUnavailableError if the file or its layout cannot be read, BadInput if no stripe
    can be as long as the target's split.
    """
    size = size_of(path)
    if size == 0:
        return None
    layout = reader.read(path)
    kept = _left_alone(layout)
    if kept:
        return LeftAlone(path, size, kept)
    # A file stays in its pool, unless the target names another.
    pool = target.pool or next(iter(_pools(layout)), None)
    plan = plan_stripes(size, target.split_size, target.osts_in(pool), pool)
    why = _why(layout, plan, target)
    if why:
        return Mismatch(path, size, why, plan)
    osts = sum(1 for index in owned_bytes(layout, 0, size) if index is not None)
    # -1, all OSTs: their number is unknown, and so is whether these are too few.
    if osts + _may_share(layout) < plan.stripe_count:
        splits = counted(plan.splits, "split")
        few = f"too few OSTs: {osts}, its {splits} could be on {plan.stripe_count}"
        return Mismatch(path, size, few, plan, osts)
    return None


def migrate(mismatch: Mismatch, lfs: Lfs, target: LayoutTarget, reader: LayoutReader) -> str:
    """Migrates one file, reads its layout back and returns the outcome as text.

    Raises VasError if the file does not fit better than before, or cannot be migrated.
    """
    path, plan = mismatch.path, mismatch.plan
    now = mismatch_of(path, target, reader)
    if not isinstance(now, Mismatch) or now.plan != plan:
        return "changed meanwhile, left alone"
    try:
        lfs.migrate(path, size=plan.stripe_size, count=plan.stripe_count, pool=plan.pool)
    except LayoutUnavailableError as refused:
        if refused.errno not in _IN_USE:
            raise
        return "in use, left alone"
    return _achieved(mismatch, mismatch_of(path, target, reader), reader.read(path))


def _achieved(before: Mismatch, after: Mismatch | LeftAlone | None, layout: Layout) -> str:
    osts = after.osts if isinstance(after, Mismatch) else None
    if isinstance(after, Mismatch) and osts is None:
        raise VasError(f"migrated, and still: {after.why}", where=str(before.path))
    if osts is not None and before.osts is not None and osts <= before.osts:
        raise VasError(
            f"migrated, and still on {counted(osts, 'OST')}: Lustre gave it no more",
            where=str(before.path),
            hint="see `lfs df` for OSTs that are full, or give --osts",
        )
    pools = {pool or "no pool" for pool in _pools(layout)} - {before.plan.pool or "no pool"}
    more = [f"into {', '.join(sorted(pools))}"] if pools else []
    if isinstance(after, Mismatch) and osts is not None:
        more.append(f"to {counted(osts, 'OST')}, {after.plan.stripe_count} were requested")
    return " ".join(["migrated", *more])


def _seen(path: Path, seen: set[tuple[int, int]]) -> bool:
    """Whether another name of the file was seen; only files with several names are remembered."""
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
    """Why a migration would lose a property of this layout; None if it would not."""
    if isinstance(layout, Foreign):
        return "foreign layout"
    if isinstance(layout, Plain):
        return _strange_pattern(layout)
    for component in layout.components:
        part = component.layout
        why = "foreign layout" if isinstance(part, Foreign) else _strange_pattern(part)
        if why:
            return why
    if layout.mirror_count > 1 or layout.flags & _FLR_STATE:
        return f"{counted(layout.mirror_count, 'mirror')}: a migration would keep one copy only"
    if any(component.flags & EXTENSION for component in layout.components):
        return "self-extending"
    strange = {component.flags & ~INIT for component in layout.components} - {0}
    if strange or layout.flags:
        bits = names_of(max(strange, default=0), COMPONENT_FLAG_NAMES)
        return f"flags that a migration would lose: {','.join(bits) or hex(layout.flags)}"
    if len(_pools(layout)) > 1:
        return "components in different pools"
    return None


def _strange_pattern(part: Plain) -> str | None:
    if part.pattern & RELEASED:
        return "released to the archive"
    if part.pattern & MDT:
        return "data on the MDT"
    if part.pattern & ~_UNDERSTOOD:
        return f"a pattern that VAS does not know: {part.pattern:#x}"
    return None


def _pools(layout: Layout) -> set[str | None]:
    """The pools of all parts; None stands for no pool."""
    parts = [c.layout for c in layout.components] if isinstance(layout, Composite) else [layout]
    return {part.pool for part in parts if isinstance(part, Plain)}


def _why(layout: Layout, plan: StripePlan, target: LayoutTarget) -> str | None:
    size = plan.file_size
    owned = owned_bytes(layout, 0, size)
    if owned[None]:
        return f"{format_size(owned[None])} {unowned_reason(layout, 0, size)}"
    broken = first_broken_split(layout, size, target.split_size)
    if broken is not None:
        return f"{_stripes(layout)}: the split at {_split_start(broken, target)} is on several OSTs"
    if target.pool and isinstance(layout, Plain) and layout.pool != target.pool:
        return f"in pool {layout.pool or 'none'}"
    return None


def _may_share(layout: Layout) -> int:
    """1 where the one object of a progressive file's first component may share its OST.

    Files of `lustre:///` may, as the MDT chooses the OSTs of each component independently.
    """
    if not isinstance(layout, Composite) or len(layout.components) == 1:
        return 0
    first = layout.components[0].layout
    return int(isinstance(first, Plain) and len(first.objects) == 1)


def _split_start(border: int, target: LayoutTarget) -> int:
    return border // target.split_size * target.split_size


def _stripes(layout: Layout) -> str:
    if isinstance(layout, Composite):
        return counted(len(layout.components), "component")
    return f"stripes of {format_size(layout.stripe_size)}" if isinstance(layout, Plain) else ""
