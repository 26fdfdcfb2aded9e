"""Finds which OST holds which bytes of a file. Pure: a layout in, stripe spans out.

The stripe of a byte, within a component too, is `objects[(offset / stripe_size) % count]` with
the offset in the whole file. Of several mirrors, the first usable one (not stale, not offline,
preferred for reading before others, then the lowest mirror) is the owner named.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from math import lcm

from vas_layout.model import (
    MDT,
    OFFLINE,
    RAID0,
    RELEASED,
    STALE,
    Component,
    Composite,
    Foreign,
    Layout,
    Plain,
)

_PREFER_READ = 0x2
_EXTENSION = 0x40
_PARITY = 0x80
_NO_OBJECTS = "no objects allocated"


@dataclass(frozen=True)
class StripeSpan:
    """Bytes [offset, offset + length) on one OST; if `ost_idx` is None, `reason` says why."""

    offset: int
    length: int
    ost_idx: int | None
    reason: str | None = None


def stripe_spans(layout: Layout, offset: int, length: int) -> Iterator[StripeSpan]:
    """Yields the spans of a byte range in order, without a gap; neighbours on one OST are one span.

    Lazy, as a range may have any number of stripes: a sparse file may have 8 EiB.
    """
    return _merged(_all_spans(layout, offset, length))


def borders(layout: Layout, size: int, unit: int) -> Iterator[int]:
    """Yields offsets where the owner changes, in order; one for each distance from a multiple of
    `unit` bytes.

    So the number of borders depends on the layout, and not on the size of the file.
    """
    return (span.offset for span in _merged(_all_spans(layout, 0, size, unit)))


def unowned_reason(layout: Layout, offset: int, length: int) -> str | None:
    """Returns why a range's first bytes without a known owner have none; None if all have one."""
    parts = (part for part, _start, _end in _segments(layout, offset, offset + length))
    return next((part for part in parts if isinstance(part, str)), None)


def owned_bytes(layout: Layout, offset: int, length: int) -> Counter[int | None]:
    """Returns OST index -> bytes of the range; the key None counts bytes without a known owner.

    The time depends on the number of objects, not on the number of stripes.
    """
    owned: Counter[int | None] = Counter()
    for part, start, end in _segments(layout, offset, offset + length):
        if isinstance(part, str):
            owned[None] += end - start
            continue
        for index, obj in enumerate(part.objects):
            share = _bytes_below(part, index, end) - _bytes_below(part, index, start)
            if share:
                owned[obj.ost_idx] += share
    return owned


def plain_at(layout: Layout, offset: int) -> Plain | None:
    """Returns the plain layout of a byte; None for a byte without a known owner."""
    parts = (part for part, _start, _end in _segments(layout, offset, offset + 1))
    return next((part for part in parts if isinstance(part, Plain)), None)


def _bytes_below(plain: Plain, index: int, offset: int) -> int:
    size = plain.stripe_size
    rounds, rest = divmod(offset, size * len(plain.objects))
    return rounds * size + min(max(rest - index * size, 0), size)


def _all_spans(
    layout: Layout, offset: int, length: int, unit: int | None = None
) -> Iterator[StripeSpan]:
    for part, start, end in _segments(layout, offset, offset + length):
        if isinstance(part, str):
            yield StripeSpan(start, end - start, None, part)
            continue
        # After one period the same OSTs come at the same distances from multiples of the unit. The
        # byte after it shows the border that repeats there (before the first is another part), and
        # the last period which owner the next part follows.
        period = lcm(part.stripe_size * len(part.objects), unit) if unit else end - start
        first = min(end, start + period + 1)
        yield from _spans_of(part, start, first)
        rest = max(first, end - (end - start - 1) % period - 1)
        if rest < end:
            yield from _spans_of(part, rest, end)


def _spans_of(plain: Plain, start: int, end: int) -> Iterator[StripeSpan]:
    size, count = plain.stripe_size, len(plain.objects)
    if count == 1:
        yield StripeSpan(start, end - start, plain.objects[0].ost_idx)
        return
    while start < end:
        stripe = start // size
        stop = min((stripe + 1) * size, end)
        yield StripeSpan(start, stop - start, plain.objects[stripe % count].ost_idx)
        start = stop


def _segments(layout: Layout, start: int, end: int) -> Iterator[tuple[Plain | str, int, int]]:
    """The range in parts that each have one plain layout, or one reason for having no owner."""
    if not isinstance(layout, Composite):
        if start < end:
            yield _placed_or_reason(layout), start, end
        return
    for low, high in _borders(layout.components, start, end):
        yield _choose(layout.components, low), low, high


def _borders(components: tuple[Component, ...], start: int, end: int) -> Iterator[tuple[int, int]]:
    ends = (c.extent_end for c in components if c.extent_end is not None)
    inside = {b for b in (*ends, *(c.extent_start for c in components)) if start < b < end}
    points = sorted({start, end} | inside) if start < end else []
    return pairwise(points)


def _choose(components: tuple[Component, ...], offset: int) -> Plain | str:
    covering = [c for c in components if _covers(c, offset)]
    if not covering:
        return "past the last component"
    usable = [c for c in covering if not c.flags & (STALE | OFFLINE | _PARITY)]
    if not usable:
        return "every mirror is stale or offline"
    usable.sort(key=lambda c: (not c.flags & _PREFER_READ, c.mirror_id))
    found = [_component_owner(c) for c in usable]
    return next((f for f in found if isinstance(f, Plain)), found[0])


def _covers(component: Component, offset: int) -> bool:
    end = component.extent_end
    return component.extent_start <= offset and (end is None or offset < end)


def _component_owner(component: Component) -> Plain | str:
    if component.flags & _EXTENSION:
        return "extension space, no component yet"
    owner = _placed_or_reason(component.layout)
    return "component not instantiated" if owner == _NO_OBJECTS else owner


def _placed_or_reason(layout: Plain | Foreign) -> Plain | str:
    if isinstance(layout, Foreign):
        return "foreign layout"
    if layout.placed:
        return layout
    if layout.pattern & RELEASED:
        return "released to the archive"
    if layout.pattern & MDT:
        return "on the MDT"
    if layout.objects and layout.pattern & RAID0:
        return "objects missing or of an unknown pattern"
    return "unknown pattern" if layout.objects else _NO_OBJECTS


def _merged(parts: Iterable[StripeSpan]) -> Iterator[StripeSpan]:
    last: StripeSpan | None = None
    for span in parts:
        if last and (last.ost_idx, last.reason) == (span.ost_idx, span.reason):
            last = replace(last, length=last.length + span.length)
            continue
        if last:
            yield last
        last = span
    if last:
        yield last
