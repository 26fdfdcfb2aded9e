"""Reads the layout options of `lfs setstripe` and `lfs migrate` into a layout. Pure.

Raises UsageError (status 4, after the usage text) or RefusedLayout (with its own status).
"""

from __future__ import annotations

import errno
from dataclasses import dataclass, field, replace

from vas_lab.lustre.lfs.options import Option, Parsed, UsageError
from vas_layout.model import (
    MAX_STRIPES,
    MDT,
    OVERSTRIPING,
    RAID0,
    STRIPE_ALIGNMENT,
    Component,
    Composite,
    Foreign,
    Layout,
    Magic,
    Plain,
    StripeObject,
)

_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_KIBIBYTES_BELOW = 4096
_SIZE_LIMIT = 1 << 32
_MAX_POOL_CHARS = 15
_MAX_PER_OST = 32

OPTIONS = (
    Option("component-end", "E", "required"),
    Option("stripe-count", "c", "required"),
    Option("overstripe-count", "C", "required"),
    Option("stripe-size", "S", "required"),
    Option("stripe-index", "i", "required"),
    Option("ost", "o", "required"),
    Option("pool", "p", "required"),
    Option("layout", "L", "required"),
    Option("mirror-count", "N", "optional"),
    Option("foreign", "", "optional"),
    Option("xattr", "x", "required"),
    Option("delete", "d"),
    Option("copy", "", "required"),
    Option("mode", "", "required"),
    Option("help", "h"),
)


class RefusedLayout(Exception):
    """A layout that lfs itself refuses: the lines for stderr and the exit status."""

    def __init__(self, status: int, *lines: str) -> None:
        self.status = status
        self.lines = lines
        super().__init__(lines)


@dataclass(frozen=True)
class _Part:
    """One component's options; a plain layout's without `-E`."""

    size: int = 0
    count: int = 0
    overstriped: bool = False
    start: int | None = None
    osts: tuple[int, ...] = ()
    pool: str | None = None
    on_mdt: bool = False
    end: int | None = None

    def next_part(self) -> _Part:
        """Returns the options that the component after this one inherits."""
        kept = 0 if self.on_mdt else self.count
        return _Part(size=0 if self.on_mdt else self.size, count=kept, pool=self.pool)


@dataclass
class _Mirror:
    copies: int = 1
    parts: list[_Part] = field(default_factory=list)


def request_of(parsed: Parsed, path: str) -> Layout | None:
    """Returns the requested layout; None without such options. `path` is for messages only.

    Raises RefusedLayout for what Lustre refuses, too. Raises UsageError for a wrong value of an
    option.
    """
    if parsed.has("foreign"):
        return Foreign(0, 0, (parsed.value("xattr") or "").encode(errors="surrogateescape"))
    mirrors, is_composite = _mirrors(parsed, path)
    parts = [part for mirror in mirrors for part in mirror.parts]
    if not is_composite:
        if parts[0].on_mdt:
            raise _invalid("Invalid pattern: '-L mdt', must be specified with -E")
        return _plain(parts[0], 0)
    components = []
    copies = sum(mirror.copies for mirror in mirrors)
    number = 0
    for mirror in mirrors:
        for _ in range(mirror.copies):
            number += 1
            components += _components(mirror.parts, number if copies > 1 else 0)
    return Composite(0, 0, copies, tuple(components))


def is_asked(parsed: Parsed) -> bool:
    """Returns whether any option is one of a layout."""
    silent = {"help", "mode", "copy", "delete"}
    return any(name not in silent for name, _ in parsed.options)


def _mirrors(parsed: Parsed, path: str) -> tuple[list[_Mirror], bool]:
    mirrors, part, began, is_composite = [_Mirror()], _Part(), False, False
    for name, value in parsed.options:
        if name == "mirror-count":
            if mirrors[-1].parts or began:
                mirrors[-1].parts.append(part)
                mirrors.append(_Mirror())
            mirrors[-1].copies = int(value) if value else 1
            part, began, is_composite = _Part(), False, True
        elif name == "component-end":
            if began:
                mirrors[-1].parts.append(part)
            part = replace(part.next_part() if began else part, end=_end(value or ""))
            began, is_composite = True, True
        else:
            part = _with(part, name, value or "", path, is_first=not mirrors[-1].parts)
    mirrors[-1].parts.append(part)
    for each in (item for mirror in mirrors for item in mirror.parts):
        if each.osts and each.count not in (0, len(each.osts)):
            raise UsageError(f"stripe_count({each.count}) != nr_tgts({len(each.osts)})")
    return mirrors, is_composite


def _with(part: _Part, name: str, value: str, path: str, *, is_first: bool) -> _Part:
    match name:
        case "stripe-count":
            return replace(part, count=_count(value, -1), overstriped=False)
        case "overstripe-count":
            return replace(part, count=_count(value, -_MAX_PER_OST), overstriped=True)
        case "stripe-size":
            return replace(part, size=_stripe_size(value))
        case "stripe-index":
            return replace(part, start=_start(value))
        case "ost":
            return replace(part, osts=_osts(value))
        case "pool":
            return replace(part, pool=_pool(value))
        case "layout":
            return replace(part, on_mdt=_is_mdt(value, path, is_first=is_first))
    return part


def _components(parts: list[_Part], mirror: int) -> list[Component]:
    made, begin = [], 0
    for part in parts:
        if part.end is not None and part.end <= begin:
            raise RefusedLayout(
                errno.EINVAL,
                f"Set extent [{begin}, {part.end}) failed. Invalid argument",
                "error: lfs setstripe: invalid layout",
            )
        made.append(Component(mirror << 16, 0, begin, part.end, _plain(part, begin)))
        begin = part.end or 0
    return made


def misaligned(request: Layout) -> bool:
    """Returns whether a component's end is not a multiple of its stripe size."""
    return isinstance(request, Composite) and any(
        part.extent_end is not None
        and isinstance(part.layout, Plain)
        and part.layout.stripe_size > 0
        and part.extent_end % part.layout.stripe_size > 0
        for part in request.components
    )


def _plain(part: _Part, begin: int) -> Plain:
    if part.on_mdt:
        return Plain(Magic.V1, MDT, (part.end or 0) - begin, 0)
    osts = part.osts
    if osts and part.start is not None:
        if part.start not in osts:
            raise RefusedLayout(
                errno.EINVAL, f"error: OST {part.start} is not in the list given with -o"
            )
        turn = osts.index(part.start)
        osts = osts[turn:] + osts[:turn]
    over = part.overstriped or len(set(osts)) < len(osts)
    return Plain(
        magic=Magic.SPECIFIC if osts else Magic.V3 if part.pool else Magic.V1,
        pattern=RAID0 | (OVERSTRIPING if over else 0),
        stripe_size=part.size,
        stripe_count=len(osts) or part.count,
        stripe_offset=osts[0] if osts else part.start,
        pool=part.pool,
        objects=tuple(StripeObject(ost) for ost in osts),
    )


# ---- values ----


def _invalid(what: str) -> RefusedLayout:
    return RefusedLayout(errno.EINVAL, f"lfs setstripe: {what}: Invalid argument ({errno.EINVAL})")


def _bytes(text: str) -> int | None:
    """A size: units are powers of 1024, and a bare number below 4096 counts KiB."""
    digits, unit = (text[:-1], text[-1:].lower()) if text[-1:].isalpha() else (text, "")
    if not digits.isdigit() or (unit and unit not in _UNITS):
        return None
    number = int(digits)
    if not unit:
        return number << 10 if number < _KIBIBYTES_BELOW else number
    return number << _UNITS[unit]


def _stripe_size(text: str) -> int:
    size = _bytes(text)
    if size is None or size % STRIPE_ALIGNMENT:
        raise UsageError(f"lfs setstripe setstripe: invalid stripe size '{text}'")
    if size >= _SIZE_LIMIT:
        raise _invalid(f"error: stripe size '{size}' over 4GB limit")
    return size


def _end(text: str) -> int | None:
    if text.lower() in ("-1", "eof"):
        return None
    size = _bytes(text)
    if not size or size % STRIPE_ALIGNMENT:
        raise UsageError(f"lfs setstripe setstripe: invalid component end '{text}'")
    return size


def _integer(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _count(text: str, lowest: int) -> int:
    count = _integer(text)
    if count is None or not lowest <= count <= MAX_STRIPES:
        raise UsageError(f"lfs setstripe setstripe: invalid stripe count '{text}'")
    return count


def _start(text: str) -> int | None:
    start = _integer(text)
    if start is None or not -1 <= start < 0xFFFF:
        raise UsageError(f"lfs setstripe setstripe: invalid stripe offset '{text}'")
    return None if start == -1 else start


def _osts(text: str) -> tuple[int, ...]:
    osts: list[int] = []
    for word in text.split(","):
        first, dash, last = word.partition("-")
        low, high = _integer(first), _integer(last if dash else first)
        if low is None or high is None or not 0 <= low <= high < 0xFFFF:
            raise UsageError(f"lfs setstripe setstripe: invalid OST target(s) '{text}'")
        osts += range(low, high + 1)
    return tuple(osts)


def _pool(text: str) -> str | None:
    name = text.rpartition(".")[2]
    if len(name) > _MAX_POOL_CHARS:
        raise _invalid(f"Invalid Poolname '{text}'")
    return None if name in ("", "none", "inherit", "ignore") else name


def _is_mdt(text: str, path: str, *, is_first: bool) -> bool:
    if text not in ("mdt", "raid0"):
        # It is the path that lfs 2.17 names here.
        raise RefusedLayout(
            errno.EINVAL,
            f"error: layout '{path}' is unknown, supported layouts are: 'mdt', 'raid0'",
        )
    if text == "mdt" and not is_first:
        raise RefusedLayout(errno.EINVAL, "error: 'mdt' layout can be only the first one")
    return text == "mdt"
