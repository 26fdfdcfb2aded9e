"""Defines stripe layouts as plain data, named as in `lfs getstripe`. Offsets and sizes in bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

STRIPE_ALIGNMENT = 65536
MAX_STRIPES = 2000
MAX_XATTR_BYTES = 65536
# The unit of `stripe_size` in an extension component (SEL_UNIT_SIZE in lustre_user.h).
EXTENSION_UNIT_BYTES = 1024
ALL_OSTS = -1

RAID0 = 0x1
MDT = 0x100
OVERSTRIPING = 0x200
RELEASED = 0x80000000
PATTERN_NAMES = {RAID0: "raid0", MDT: "mdt", OVERSTRIPING: "overstriping", RELEASED: "released"}

STALE = 0x1
OFFLINE = 0x8
EXTENSION = 0x40
INIT = 0x10
# In the order `lfs` prints them.
COMPONENT_FLAG_NAMES = {
    INIT: "init",
    STALE: "stale",
    0x2: "prefrd",
    0x4: "prefwr",
    OFFLINE: "offline",
    0x20: "nosync",
    EXTENSION: "extension",
}


class Magic(Enum):
    """Forms of a plain layout; SPECIFIC (an exact list of OSTs) occurs in requests only."""

    V1 = "v1"
    V3 = "v3"
    SPECIFIC = "specific"


@dataclass(frozen=True)
class Fid:
    """A Lustre file identifier: sequence, object id and version."""

    sequence: int
    object_id: int
    version: int = 0

    def __str__(self) -> str:
        return f"{self.sequence:#x}:{self.object_id:#x}:{self.version:#x}"


@dataclass(frozen=True)
class StripeObject:
    """One stripe's object and the index of its OST."""

    ost_idx: int
    fid: Fid = Fid(0, 0)


@dataclass(frozen=True)
class Plain:
    """A layout of one kind of stripes: a file's, one component's, a default or a request.

    Without objects no byte has an OST: a directory default, a request, a component that
    nobody has written to, data on the MDT, or a released file. `stripe_count` is
    -1 for all OSTs (-2 to -32 for that many on each), 0 for the default. `stripe_offset` is
    the first object's OST, or the requested start. `layout_gen` is 0 if the bytes lack it
    (`getxattr` hides it). In an extension component (SEL) `stripe_size` is the size in
    KiB by which the component before grows.
    """

    magic: Magic
    pattern: int
    stripe_size: int
    stripe_count: int
    stripe_offset: int | None = None
    layout_gen: int = 0
    pool: str | None = None
    objects: tuple[StripeObject, ...] = ()
    # The file's own identifier as stored; a default's is junk, so equality ignores it.
    owner: tuple[int, int] = field(default=(0, 0), compare=False)

    @property
    def placed(self) -> bool:
        """Tells whether a byte has an OST: that of `objects[(offset / stripe_size) % count]`."""
        made = bool(self.objects) and self.magic is not Magic.SPECIFIC
        return made and self.pattern & ~OVERSTRIPING == RAID0


@dataclass(frozen=True)
class Foreign:
    """A layout that Lustre stores without interpreting it."""

    foreign_type: int
    flags: int
    value: bytes


@dataclass(frozen=True)
class Component:
    """A part of a composite layout for bytes [extent_start, extent_end); an end of None is EOF."""

    id: int
    flags: int
    extent_start: int
    extent_end: int | None
    layout: Plain | Foreign

    @property
    def mirror_id(self) -> int:
        """The number of the mirror that the component belongs to: the upper 16 bits of `id`."""
        return self.id >> 16


@dataclass(frozen=True)
class Composite:
    """A layout of components in sequence (PFL, DoM, SEL) and, with mirrors, in parallel (FLR)."""

    layout_gen: int
    flags: int
    mirror_count: int
    components: tuple[Component, ...]


Layout: TypeAlias = Plain | Composite | Foreign


def names_of(bits: int, names: dict[int, str]) -> list[str]:
    """Returns the names of the bits set; unnamed bits come last, as one hexadecimal number."""
    known = [name for bit, name in names.items() if bits & bit]
    rest = bits & ~sum(names)
    return [*known, f"{rest:#x}"] if rest else known
