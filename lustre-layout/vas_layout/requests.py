"""Builds requests for a layout, to be written to the `lustre.lov` of a file that has none."""

from __future__ import annotations

from collections.abc import Sequence

from vas_layout.errors import LayoutError
from vas_layout.model import (
    ALL_OSTS,
    MAX_STRIPES,
    MDT,
    OVERSTRIPING,
    RAID0,
    STRIPE_ALIGNMENT,
    Component,
    Composite,
    Magic,
    Plain,
    StripeObject,
)

_MAX_POOL_CHARS = 15
_MAX_STRIPE_SIZE = 1 << 32


def stripes(
    size: int,
    count: int,
    *,
    start: int | None = None,
    pool: str | None = None,
    osts: Sequence[int] = (),
) -> Plain:
    """Returns a request for `count` stripes (-1: all OSTs) of `size` bytes; 0 is the default.

    `osts` lists the exact OSTs in order; an OST listed twice requests overstriping. `start` is the
    first OST. Raises LayoutError for a request that Lustre would refuse or silently change.
    """
    _check(size, count, start, pool, osts)
    pattern = RAID0 | (OVERSTRIPING if len(set(osts)) < len(osts) else 0)
    magic = Magic.SPECIFIC if osts else Magic.V3 if pool else Magic.V1
    offset = osts[0] if osts else start
    objects = tuple(StripeObject(index) for index in osts)
    return Plain(magic, pattern, size, count, offset, pool=pool, objects=objects)


def data_on_mdt(size: int) -> Plain:
    """Returns a request for a first component of `size` bytes on the MDT."""
    return Plain(Magic.V1, MDT, size, 0)


def progressive(parts: Sequence[tuple[int | None, Plain]]) -> Composite:
    """Returns a request for components in sequence, each (end in bytes or None for EOF, stripes).

    Raises LayoutError if the ends are not increasing multiples of 64 KiB.
    """
    components, start = [], 0
    for index, (end, layout) in enumerate(parts):
        last = index == len(parts) - 1
        if end is None and not last:
            raise LayoutError("only the last component may end at EOF")
        if end is not None and (end <= start or end % STRIPE_ALIGNMENT):
            raise LayoutError(f"component end {end} is not a multiple of 64 KiB above {start}")
        components.append(Component(0, 0, start, end, layout))
        start = end or 0
    if not components:
        raise LayoutError("composite without components")
    return Composite(0, 0, 1, tuple(components))


def _check(size: int, count: int, start: int | None, pool: str | None, osts: Sequence[int]) -> None:
    if size % STRIPE_ALIGNMENT or not 0 <= size < _MAX_STRIPE_SIZE:
        raise LayoutError(f"stripe size {size} is not a multiple of 64 KiB below 4 GiB")
    if not ALL_OSTS <= count <= MAX_STRIPES:
        raise LayoutError(f"stripe count {count} is not between -1 and {MAX_STRIPES}")
    if osts and count != len(osts):
        raise LayoutError(f"stripe count {count} for a list of {len(osts)} OSTs")
    if any(not 0 <= index < 0xFFFF for index in (*osts, start or 0)):
        raise LayoutError("an OST index is between 0 and 65534")
    if osts and start not in (None, osts[0]):
        raise LayoutError(f"start {start} is not the first of the OSTs listed")
    if pool is not None and not _is_pool_name(pool):
        raise LayoutError(f"pool name {pool!r} is not 1 to {_MAX_POOL_CHARS} of [A-Za-z0-9_.-]")


def _is_pool_name(pool: str) -> bool:
    plain = pool.isascii() and all(c.isalnum() or c in "_.-" for c in pool)
    return plain and 0 < len(pool) <= _MAX_POOL_CHARS
