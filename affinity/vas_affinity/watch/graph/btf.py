"""Finds the members of kernel structures in the kernel's description of its types (BTF).

The format is the kernel's Documentation/bpf/btf.rst.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator, Mapping

_HEADER = struct.Struct("<HBBIIIII")
_MAGIC = 0xEB9F
_TYPE = struct.Struct("<III")
_MEMBER = struct.Struct("<III")
_STRUCT = 4
# Bytes that follow a type: a fixed number, and so many for each of its members, by kind.
_FIXED = {1: 4, 3: 12, 14: 4, 17: 4}
_EACH = {4: 12, 5: 12, 6: 8, 13: 8, 15: 12, 19: 12}
_BITS_OF_OFFSET = 0xFFFFFF


def member_offsets(data: bytes, wanted: Mapping[str, Collection[str]]) -> dict[str, dict[str, int]]:
    """Returns structure -> member -> offset in bytes, of the wanted ones that there are.

    Raises ValueError if `data` is not BTF of this machine's byte order.
    """
    magic, _, _, header, types_at, types, strings_at, _ = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise ValueError("is not BTF")
    strings = header + strings_at
    # Names are compared by their place among the strings: only the wanted structures' are read.
    places = {data.find(f"\0{name}\0".encode(), strings) + 1 - strings: name for name in wanted}
    found: dict[str, dict[str, int]] = {name: {} for name in wanted}
    at, end = header + types_at, header + types_at + types
    while at < end:
        name, info, _ = _TYPE.unpack_from(data, at)
        kind, count, at = info >> 24 & 0x1F, info & 0xFFFF, at + _TYPE.size
        if kind == _STRUCT and count and name in places:
            of = places.pop(name)
            members = dict(_members(data, strings, at, count))
            found[of] = {one: members[one] for one in wanted[of] if one in members}
            if not places:
                break
        at += _FIXED.get(kind, 0) + count * _EACH.get(kind, 0)
    return found


def _members(data: bytes, strings: int, at: int, count: int) -> Iterator[tuple[str, int]]:
    for n in range(count):
        name_at, _, offset = _MEMBER.unpack_from(data, at + n * _MEMBER.size)
        start = strings + name_at
        name = data[start : data.index(b"\0", start)].decode(errors="replace")
        yield name, (offset & _BITS_OF_OFFSET) // 8
