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
    """Makes layouts with objects, through these functions of the MDS:

    `choose`: (count, OSTs of the pool or None, start or None, OSTs to avoid) -> OSTs; `new_object`:
    OST -> FID; `present`: () -> indices of the OSTs that are not away; `pools`: pool -> OST
    indices; `osts`: all OST indices.
    """

    choose: Callable[[int, Sequence[int] | None, int | None, Collection[int]], list[int]]
    new_object: Callable[[int], Fid]
    present: Callable[[], Sequence[int]]
    pools: dict[str, list[int]]
    osts: Sequence[int]

    def instantiate(self, request: Layout, owner: Fid) -> Layout:
        """Returns the layout that a new file `owner` gets for `request`, as Lustre makes it.

        Raises OSError for a request that the MDS refuses.
        """
        check(request, self.osts)
        if isinstance(request, Foreign):
            return request
        if isinstance(request, Plain):
            made = self._make(as_request(request), DEFAULT_STRIPE_SIZE)
            return replace(made, owner=(owner.object_id, owner.sequence))
        return self._composite(request)

    def grow(self, layout: Layout, size: int) -> Layout:
        """Returns the layout after a write of bytes [0, size): components within get objects.

        Of mirrors only the first stays in sync, as after a write through a client. Raises OSError
        if no OST is left.
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
                layout = resolved(as_request(layout), default_size(component.extent_end))
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

    def _make(self, request: Plain, size: int, avoid: Collection[int] = ()) -> Plain:
        request = resolved(request, size)
        pool = self.pools.get(request.pool) if request.pool else None
        if request.magic is Magic.SPECIFIC:
            osts = [item.ost_idx for item in request.objects]
        else:
            present = self.present()
            members = present if pool is None else [ost for ost in pool if ost in present]
            count = self._count(request, len(members))
            osts = self.choose(count, pool, request.stripe_offset, avoid)
        overstriped = OVERSTRIPING if len(set(osts)) < len(osts) else 0
        return Plain(
            magic=Magic.V3 if request.pool else Magic.V1,
            pattern=RAID0 | overstriped,
            stripe_size=request.stripe_size,
            stripe_count=len(osts),
            stripe_offset=osts[0],
            pool=request.pool,
            objects=tuple(StripeObject(ost, self.new_object(ost)) for ost in osts),
        )

    def _count(self, request: Plain, members: int) -> int:
        if request.pattern & OVERSTRIPING:
            per_ost = -request.stripe_count
            return min(MAX_STRIPES, per_ost * members if per_ost > 0 else request.stripe_count)
        return members if request.stripe_count < 0 else min(request.stripe_count, members)


def as_request(layout: Plain) -> Plain:
    """Returns a layout without its objects, as a request for an equal one.

    `cp -a` sets the layout that it read from another file, objects included.
    """
    if layout.magic is Magic.SPECIFIC or not layout.objects:
        return layout
    return replace(layout, objects=(), stripe_offset=None, layout_gen=0)


def is_nothing(request: Plain) -> bool:
    """Returns whether a request leaves all open: set on a directory, it deletes the default."""
    named = request.stripe_size or request.stripe_count or request.pool or request.objects
    return not named and request.stripe_offset is None


def resolved(request: Plain, size: int) -> Plain:
    """Returns a request in which every value that it left open has its default."""
    if request.pattern == MDT:
        # The MDT's index takes the place of the generation; the lab has MDT 0 only.
        return replace(request, stripe_size=request.stripe_size or size, stripe_count=0)
    count = len(request.objects) if request.magic is Magic.SPECIFIC else request.stripe_count
    return replace(
        request,
        pattern=request.pattern or RAID0,
        stripe_size=request.stripe_size or size,
        stripe_count=count or 1,
    )


def default_size(extent_end: int | None) -> int:
    """Returns the stripe size in bytes of a component that names none.

    The end of the component must be a multiple of its stripe size.
    """
    if extent_end is None:
        return DEFAULT_STRIPE_SIZE
    return min(DEFAULT_STRIPE_SIZE, extent_end & -extent_end)


def check(request: Layout, osts: Sequence[int]) -> None:
    """Raises OSError (EINVAL) for a requested layout that the MDS refuses."""
    if isinstance(request, Plain):
        if request.pattern == MDT:
            raise _refuse("data on the MDT in a plain layout")
        _check_plain(request, osts)
    if isinstance(request, Composite):
        _check_extents(request)
        for component in request.components:
            if isinstance(component.layout, Plain):
                _check_plain(component.layout, osts)


def _check_plain(request: Plain, osts: Sequence[int]) -> None:
    if request.pattern not in (0, RAID0, RAID0 | OVERSTRIPING, MDT):
        raise _refuse(f"pattern {request.pattern:#x}")
    if request.stripe_size % STRIPE_ALIGNMENT:
        raise _refuse(f"stripe size {request.stripe_size}")
    lowest = _MIN_NEGATIVE_COUNT if request.pattern & OVERSTRIPING else -1
    if not lowest <= request.stripe_count <= MAX_STRIPES:
        raise _refuse(f"stripe count {request.stripe_count}")
    named = {item.ost_idx for item in request.objects} if request.magic is Magic.SPECIFIC else set()
    if request.stripe_offset is not None and as_request(request).stripe_offset is not None:
        named.add(request.stripe_offset)
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
