"""Turns a request or a default into a layout with objects. Raises OSError as an MDS does."""

from __future__ import annotations

import errno
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from vas_layout.model import (
    INIT,
    MAX_STRIPES,
    MDT,
    OVERSTRIPING,
    RAID0,
    STALE,
    STRIPE_ALIGNMENT,
    Component,
    Composite,
    Fid,
    Foreign,
    Layout,
    Magic,
    Plain,
    StripeObject,
)

DEFAULT_STRIPE_SIZE = 4 << 20
DEFAULT = Plain(Magic.V1, RAID0, 0, 0)
_FLR_STATE = 0x3
_READ_ONLY = 1
_WRITE_PENDING = 2
_MIN_NEGATIVE_COUNT = -32


def _refuse(why: str) -> OSError:
    return OSError(errno.EINVAL, why)


@dataclass(frozen=True)
class Maker:
    """The MDS's own functions that are needed to make objects.

    choose      (count, pool's OSTs or None, start or None, OSTs to avoid) -> OSTs
    new_object  OST -> FID
    present     () -> OST indices that are not away
    pools       pool -> OST indices
    osts        all OST indices
    """

    choose: Callable[[int, Sequence[int] | None, int | None, Collection[int]], list[int]]
    new_object: Callable[[int], Fid]
    present: Callable[[], Sequence[int]]
    pools: dict[str, list[int]]
    osts: Sequence[int]

    def instantiate(self, request: Layout, owner: Fid) -> Layout:
        """Returns the layout that a new file `owner` gets for `request`, as Lustre makes it."""
        check(request, self.osts)
        if isinstance(request, Foreign):
            return request
        if isinstance(request, Plain):
            made = self._make(wish_of(request), DEFAULT_STRIPE_SIZE)
            return replace(made, owner=(owner.object_id, owner.sequence))
        return self._composite(request)

    def grow(self, layout: Layout, size: int) -> Layout:
        """Returns the layout after a write of bytes [0, size): components begun get objects.

        Of mirrors only the first stays in sync, as after a write through a client.
        """
        if not isinstance(layout, Composite) or size == 0:
            return layout
        if layout.flags & _FLR_STATE == _READ_ONLY:
            layout = _written_mirrors(layout)
        components = tuple(
            self._begun(component, _osts_of(layout.components, component.mirror_id))
            if _is_due(component, size)
            else component
            for component in layout.components
        )
        if components == layout.components:
            return layout
        return replace(layout, layout_gen=layout.layout_gen + 1, components=components)

    def _composite(self, request: Composite) -> Composite:
        numbered: list[Component] = []
        for number, component in enumerate(request.components, start=1):
            mirror = component.mirror_id if request.mirror_count == 1 else component.mirror_id or 1
            layout = component.layout
            if isinstance(layout, Plain):
                layout = resolved(wish_of(layout), default_size(component.extent_end))
            made = replace(component, id=mirror << 16 | number, flags=0, layout=layout)
            due = component.extent_start == 0
            numbered.append(self._begun(made, _osts_of(numbered, mirror)) if due else made)
        flags = _READ_ONLY if request.mirror_count > 1 else 0
        return Composite(len(numbered), flags, request.mirror_count, tuple(numbered))

    def _begun(self, component: Component, avoid: Collection[int]) -> Component:
        layout = component.layout
        if isinstance(layout, Plain) and layout.pattern != MDT:
            layout = self._make(layout, default_size(component.extent_end), avoid)
        return replace(component, flags=component.flags | INIT, layout=layout)

    def _make(self, wish: Plain, size: int, avoid: Collection[int] = ()) -> Plain:
        wish = resolved(wish, size)
        pool = self.pools.get(wish.pool) if wish.pool else None
        if wish.magic is Magic.SPECIFIC:
            osts = [item.ost_idx for item in wish.objects]
        else:
            present = self.present()
            members = present if pool is None else [ost for ost in pool if ost in present]
            count = self._count(wish, len(members))
            osts = self.choose(count, pool, wish.stripe_offset, avoid)
        overstriped = OVERSTRIPING if len(set(osts)) < len(osts) else 0
        return Plain(
            magic=Magic.V3 if wish.pool else Magic.V1,
            pattern=RAID0 | overstriped,
            stripe_size=wish.stripe_size,
            stripe_count=len(osts),
            stripe_offset=osts[0],
            pool=wish.pool,
            objects=tuple(StripeObject(ost, self.new_object(ost)) for ost in osts),
        )

    def _count(self, wish: Plain, members: int) -> int:
        if wish.pattern & OVERSTRIPING:
            per_ost = -wish.stripe_count
            return min(MAX_STRIPES, per_ost * members if per_ost > 0 else wish.stripe_count)
        return members if wish.stripe_count < 0 else min(wish.stripe_count, members)


def wish_of(layout: Plain) -> Plain:
    """Returns the request in a layout that `cp -a` read from another file: without objects."""
    if layout.magic is Magic.SPECIFIC or not layout.objects:
        return layout
    return replace(layout, objects=(), stripe_offset=None, layout_gen=0)


def is_nothing(wish: Plain) -> bool:
    """Tells whether a layout names nothing: set on a directory, it deletes the default."""
    named = wish.stripe_size or wish.stripe_count or wish.pool or wish.objects
    return not named and wish.stripe_offset is None


def resolved(wish: Plain, size: int) -> Plain:
    """Returns a request with defaults filled in."""
    if wish.pattern == MDT:
        # The MDT's index takes the place of the generation; the lab has MDT 0 only.
        return replace(wish, stripe_size=wish.stripe_size or size, stripe_count=0)
    count = len(wish.objects) if wish.magic is Magic.SPECIFIC else wish.stripe_count
    return replace(
        wish,
        pattern=wish.pattern or RAID0,
        stripe_size=wish.stripe_size or size,
        stripe_count=count or 1,
    )


def default_size(extent_end: int | None) -> int:
    """Returns the stripe size of a component without one: its end must be a multiple of it."""
    if extent_end is None:
        return DEFAULT_STRIPE_SIZE
    return min(DEFAULT_STRIPE_SIZE, extent_end & -extent_end)


def check(request: Layout, osts: Sequence[int]) -> None:
    """Raises OSError(EINVAL) for what the MDS refuses."""
    if isinstance(request, Plain):
        if request.pattern == MDT:
            raise _refuse("data on the MDT in a plain layout")
        _check_plain(request, osts)
    if isinstance(request, Composite):
        _check_extents(request)
        for component in request.components:
            if isinstance(component.layout, Plain):
                _check_plain(component.layout, osts)


def _check_plain(wish: Plain, osts: Sequence[int]) -> None:
    if wish.pattern not in (0, RAID0, RAID0 | OVERSTRIPING, MDT):
        raise _refuse(f"pattern {wish.pattern:#x}")
    if wish.stripe_size % STRIPE_ALIGNMENT:
        raise _refuse(f"stripe size {wish.stripe_size}")
    lowest = _MIN_NEGATIVE_COUNT if wish.pattern & OVERSTRIPING else -1
    if not lowest <= wish.stripe_count <= MAX_STRIPES:
        raise _refuse(f"stripe count {wish.stripe_count}")
    named = {item.ost_idx for item in wish.objects} if wish.magic is Magic.SPECIFIC else set()
    if wish.stripe_offset is not None and wish_of(wish).stripe_offset is not None:
        named.add(wish.stripe_offset)
    if not named <= set(osts):
        raise _refuse("no such OST")


def _check_extents(request: Composite) -> None:
    ends: dict[int, int | None] = {}
    for component in request.components:
        mirror, end = component.mirror_id, component.extent_end
        if ends.get(mirror, 0) != component.extent_start:
            raise _refuse("components leave a gap or overlap")
        if end is not None and (end <= component.extent_start or end % STRIPE_ALIGNMENT):
            raise _refuse(f"component end {end}")
        if (
            isinstance(component.layout, Plain)
            and component.layout.pattern == MDT
            and mirror in ends
        ):
            raise _refuse("data on the MDT after the first component")
        ends[mirror] = end
    if len(ends) != request.mirror_count:
        raise _refuse("mirrors")


def _osts_of(components: Iterable[Component], other_than: int) -> set[int]:
    """The OSTs of the other mirrors."""
    return {
        item.ost_idx
        for component in components
        if component.mirror_id != other_than and isinstance(component.layout, Plain)
        for item in component.layout.objects
    }


def _is_due(component: Component, size: int) -> bool:
    return not component.flags & INIT and component.extent_start < size


def _written_mirrors(layout: Composite) -> Composite:
    first = layout.components[0].mirror_id
    components = tuple(
        item if item.mirror_id == first else replace(item, flags=item.flags | STALE)
        for item in layout.components
    )
    flags = layout.flags & ~_FLR_STATE | _WRITE_PENDING
    generation = layout.layout_gen + 1
    return replace(layout, flags=flags, layout_gen=generation, components=components)
