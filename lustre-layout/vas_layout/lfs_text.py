"""Parses the output of `lfs getstripe -y`. Pure.

Both forms of the output are read: 2.15 names components `component0:` and separates them by empty
lines, 2.16 and later print a YAML list. Neither quotes anything, a foreign layout is not YAML,
and a pool may be called `no`, so this reads lines rather than YAML: a component begins at
`lcme_id`, an object at `l_ost_idx`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from vas_layout.errors import LayoutError
from vas_layout.model import (
    COMPONENT_FLAG_NAMES,
    EXTENSION_UNIT_BYTES,
    MAX_STRIPES,
    PATTERN_NAMES,
    RELEASED,
    Component,
    Composite,
    Fid,
    Foreign,
    Layout,
    Magic,
    Plain,
    StripeObject,
)

# Our name -> the name that `lfs` prints, where they differ.
PATTERN_WORDS = {"overstriping": "overstriped"}
_PATTERNS = {PATTERN_WORDS.get(name, name): bit for bit, name in PATTERN_NAMES.items()}
# Only newer versions print the added flags.
_FLAGS = {name: bit for bit, name in COMPONENT_FLAG_NAMES.items()} | {
    "parity": 0x80,
    "compress": 0x100,
    "partial": 0x200,
    "nocompr": 0x400,
}
_FOREIGN_KEY = "lfm_value:"


@dataclass
class _Section:
    """The keys of one component, or of the whole of a plain layout, and its objects."""

    values: dict[str, str] = field(default_factory=dict)
    objects: list[dict[str, str]] = field(default_factory=list)


def parse_getstripe_yaml(text: str) -> Layout:
    """Returns the layout of one file or the default of a directory (`-d`).

    Fields that the text lacks are 0: a foreign layout's type and flags, a composite's flags.
    Raises LayoutError if a field is missing or malformed.
    """
    if _FOREIGN_KEY in text:
        return _foreign(text)
    head, parts = _sections(text)
    if parts:
        return Composite(
            layout_gen=_number(head, "lcm_layout_gen"),
            flags=0,
            mirror_count=_number(head, "lcm_mirror_count"),
            components=tuple(_component(part) for part in parts),
        )
    return _plain(head)


def _sections(text: str) -> tuple[_Section, list[_Section]]:
    head = _Section()
    parts: list[_Section] = []
    for key, value in _pairs(text):
        if key == "lcme_id":
            parts.append(_Section())
        section = parts[-1] if parts else head
        if key == "l_ost_idx":
            section.objects.append({key: value})
        elif key == "l_fid" and section.objects:
            section.objects[-1][key] = value
        else:
            section.values[key] = value
    return head, parts


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, colon, value = line.strip().removeprefix("- ").partition(":")
        if colon:
            yield key.strip(), value.strip()


def _foreign(text: str) -> Foreign:
    value = text[text.index(_FOREIGN_KEY) + len(_FOREIGN_KEY) :].strip()
    if len(value) < 2 or value[0] != "'" or value[-1] != "'":
        raise LayoutError(f"lfs printed the foreign value {value!r} without quotes")
    return Foreign(0, 0, value[1:-1].encode(errors="surrogateescape"))


def _component(part: _Section) -> Component:
    end = _value(part, "lcme_extent.e_end")
    identifier = _value(part, "lcme_id")
    return Component(
        id=0 if identifier == "N/A" else _integer("lcme_id", identifier),
        flags=_bits("component flag", _value(part, "lcme_flags"), _FLAGS),
        extent_start=_number(part, "lcme_extent.e_start"),
        extent_end=None if end == "EOF" else _integer("lcme_extent.e_end", end),
        layout=_plain(part),
    )


def _plain(section: _Section) -> Plain:
    # A default's keys have no prefix.
    told = _Section(
        {key.removeprefix("lmm_"): value for key, value in section.values.items()},
        section.objects,
    )
    pattern = _bits("pattern", _value(told, "pattern"), _PATTERNS)
    count = _number(told, "stripe_count")
    if not -32 <= count <= MAX_STRIPES:
        raise LayoutError(f"lfs printed the stripe count {count}")
    stripe_size = _stripe_size(told)
    objects = tuple(_object(entry) for entry in told.objects)
    if objects and (len(objects) != count or stripe_size < 1):
        raise LayoutError(f"lfs printed {len(objects)} objects for a stripe count of {count}")
    pool = told.values.get("pool") or None
    return Plain(
        magic=Magic.V3 if pool else Magic.V1,
        pattern=pattern,
        stripe_size=stripe_size,
        stripe_count=count,
        stripe_offset=objects[0].ost_idx if objects else _start(told, pattern),
        layout_gen=_number(told, "layout_gen") if "layout_gen" in told.values else 0,
        pool=pool,
        objects=objects,
    )


def _stripe_size(told: _Section) -> int:
    """The field as it is stored: KiB in an extension component, where `lfs` prints bytes."""
    if "extension_size" in told.values:
        return _number(told, "extension_size") // EXTENSION_UNIT_BYTES
    return _number(told, "stripe_size")


def _start(told: _Section, pattern: int) -> int | None:
    """The requested start. For data on the MDT and released files `lfs` prints OST 0 wrongly."""
    if "stripe_offset" not in told.values or pattern & RELEASED or "mdt" in told.values["pattern"]:
        return None
    start = _number(told, "stripe_offset")
    return None if start < 0 else start


def _object(entry: dict[str, str]) -> StripeObject:
    parts = entry.get("l_fid", "").split(":")
    if len(parts) != 3:
        raise LayoutError(f"lfs printed the FID {entry.get('l_fid')!r}")
    sequence, object_id, version = (_integer("l_fid", part) for part in parts)
    return StripeObject(
        _integer("l_ost_idx", entry["l_ost_idx"]), Fid(sequence, object_id, version)
    )


def _bits(what: str, text: str, names: dict[str, int]) -> int:
    bits = 0
    for word in text.split(","):
        if word in names:
            bits |= names[word]
        else:
            bits |= _integer(what, word)
    return bits


def _value(section: _Section, key: str) -> str:
    try:
        return section.values[key]
    except KeyError:
        raise LayoutError(f"lfs printed no {key}") from None


def _number(section: _Section, key: str) -> int:
    return _integer(key, _value(section, key))


def _integer(what: str, text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise LayoutError(f"lfs printed the {what} {text!r}") from None
