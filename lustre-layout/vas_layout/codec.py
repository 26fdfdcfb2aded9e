"""Decodes and encodes the bytes of the extended attribute `lustre.lov`. Pure.

The bytes are little-endian and packed, as in Lustre's `lustre_user.h` (struct lov_user_md_v1 and
_v3, lov_comp_md_v1, lov_foreign_md). Every count and size is checked against the bytes given
before anything of that size is allocated. Every error is a LayoutError of one line, which the
Java decoder (org.vas.layout.StripeLayout) repeats word for word.
"""

from __future__ import annotations

import struct

from vas_layout.errors import LayoutError
from vas_layout.model import (
    MAX_STRIPES,
    MAX_XATTR_BYTES,
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

PLAIN_MAGICS = {Magic.V1: 0x0BD10BD0, Magic.V3: 0x0BD30BD0, Magic.SPECIFIC: 0x0BD50BD0}
COMPOSITE_MAGIC = 0x0BD60BD0
# Same structure as a composite: the MDS stores this magic for an extensible component (SEL), so
# that clients without extension components refuse the file.
_COMPOSITE_SEL_MAGIC = 0x0BD80BD0
FOREIGN_MAGIC = 0x0BD70BD0
_BY_MAGIC = {number: magic for magic, number in PLAIN_MAGICS.items()}

_V1 = struct.Struct("<IIQQIHH")
_POOL_BYTES = 16
_OBJECT = struct.Struct("<QIIII")
_COMPOSITE = struct.Struct("<IIIHHH14x")
_ENTRY = struct.Struct("<IIQQII16x")
_FOREIGN = struct.Struct("<IIII")

_NOT_TOLD = 0xFFFF
_FIRST_NEGATIVE_COUNT = 0xFFE0
_EOF = 0xFFFFFFFFFFFFFFFF
_ALIGNMENT = 8


def decode(data: bytes) -> Layout:
    """Returns the layout in `data`. Raises LayoutError, and no other error, if there is none."""
    if len(data) > MAX_XATTR_BYTES:
        raise LayoutError(f"oversized: {MAX_XATTR_BYTES} bytes at most, {len(data)} given")
    if _magic(data) in (COMPOSITE_MAGIC, _COMPOSITE_SEL_MAGIC):
        return _composite(data)
    return _simple(data)


def encode(layout: Layout) -> bytes:
    """Returns the bytes of a layout or of a request for one: `decode(encode(x)) == x`."""
    match layout:
        case Plain():
            return _plain_bytes(layout)
        case Foreign():
            return _foreign_bytes(layout)
        case Composite():
            return _composite_bytes(layout)


def _magic(data: bytes) -> int:
    _need(data, 4, "the magic")
    return int.from_bytes(data[:4], "little")


def _need(data: bytes, size: int, what: str) -> None:
    if len(data) < size:
        raise LayoutError(f"truncated: {size} bytes needed for {what}, {len(data)} given")


def _simple(data: bytes) -> Plain | Foreign:
    number = _magic(data)
    if number == FOREIGN_MAGIC:
        return _foreign(data)
    magic = _BY_MAGIC.get(number)
    if magic is None:
        raise LayoutError(f"unknown magic 0x{number:08x}")
    return _plain(data, magic)


def _plain(data: bytes, magic: Magic) -> Plain:
    header_bytes = _V1.size if magic is Magic.V1 else _V1.size + _POOL_BYTES
    _need(data, header_bytes, f"a {magic.value} header")
    _, pattern, oi, oi_seq, stripe_size, count, last = _V1.unpack_from(data)
    pool = None if magic is Magic.V1 else _pool(data[_V1.size : header_bytes])
    stripe_count = count - 0x10000 if count >= _FIRST_NEGATIVE_COUNT else count
    if stripe_count > MAX_STRIPES:
        raise LayoutError(f"stripe count {stripe_count} is above {MAX_STRIPES}")
    objects = _objects(data, header_bytes, stripe_count)
    if pattern & RELEASED:
        # The objects of a released file are gone; their zero entries do not mean OST 0.
        objects = ()
    elif objects and stripe_size == 0 and magic is not Magic.SPECIFIC:
        raise LayoutError(f"stripe size 0 with {stripe_count} objects")
    told = None if last == _NOT_TOLD else last
    unplaced = not objects
    return Plain(
        magic=magic,
        pattern=pattern,
        stripe_size=stripe_size,
        stripe_count=stripe_count,
        stripe_offset=told if unplaced else objects[0].ost_idx,
        layout_gen=0 if unplaced or told is None else told,
        pool=pool,
        objects=objects,
        owner=(oi, oi_seq),
    )


def _objects(data: bytes, header_bytes: int, stripe_count: int) -> tuple[StripeObject, ...]:
    if len(data) == header_bytes:
        return ()
    if stripe_count < 0:
        raise LayoutError(f"stripe count {stripe_count} with objects")
    size = header_bytes + stripe_count * _OBJECT.size
    _need(data, size, f"{stripe_count} objects")
    if len(data) > size:
        raise LayoutError(f"oversized: {size} bytes hold {stripe_count} objects, {len(data)} given")
    return tuple(
        StripeObject(ost_idx, Fid(sequence, object_id, version))
        for sequence, object_id, version, _, ost_idx in _OBJECT.iter_unpack(data[header_bytes:])
    )


def _pool(raw: bytes) -> str | None:
    name, end, _ = raw.partition(b"\0")
    if not end:
        raise LayoutError(f"pool name without an end in its {_POOL_BYTES} bytes")
    if not all(0x20 < byte < 0x7F for byte in name):
        raise LayoutError(f"pool name 0x{name.hex()} is not printable ASCII")
    return name.decode("ascii") or None


def _foreign(data: bytes) -> Foreign:
    _need(data, _FOREIGN.size, "a foreign header")
    _, length, foreign_type, flags = _FOREIGN.unpack_from(data)
    size = _FOREIGN.size + length
    _need(data, size, f"a foreign value of {length}")
    # Components are padded to 8 bytes.
    if len(data) >= size + _ALIGNMENT:
        raise LayoutError(
            f"oversized: {size} bytes hold a foreign value of {length}, {len(data)} given"
        )
    return Foreign(foreign_type, flags, data[_FOREIGN.size : size])


def _composite(data: bytes) -> Composite:
    _need(data, _COMPOSITE.size, "a composite header")
    _, size, generation, flags, count, more_mirrors = _COMPOSITE.unpack_from(data)
    _need(data, size, "the composite")
    if len(data) > size:
        raise LayoutError(f"oversized: {size} bytes hold the composite, {len(data)} given")
    if count == 0:
        raise LayoutError("composite without components")
    table_end = _COMPOSITE.size + count * _ENTRY.size
    _need(data, table_end, f"{count} components")
    components = []
    free = table_end
    for index, entry in enumerate(_ENTRY.iter_unpack(data[_COMPOSITE.size : table_end]), start=1):
        try:
            components.append(_component(data, entry, free))
        except LayoutError as wrong:
            raise LayoutError(f"component {index}: {wrong.what}") from wrong
        free = entry[4] + entry[5]
    return Composite(generation, flags, more_mirrors + 1, tuple(components))


def _component(data: bytes, entry: tuple[int, ...], free: int) -> Component:
    identifier, flags, start, end, offset, size = entry
    # Components must be in order and disjoint: shared bytes would multiply without bound.
    if offset < free:
        raise LayoutError(f"starts at byte {offset}, before {free} where its place begins")
    if offset + size > len(data):
        raise LayoutError(f"ends at byte {offset + size}, {len(data)} given")
    if end < start:
        raise LayoutError(f"extent ends at {end}, before its start {start}")
    layout = _simple(data[offset : offset + size])
    return Component(identifier, flags, start, None if end == _EOF else end, layout)


def _plain_bytes(layout: Plain) -> bytes:
    last = layout.layout_gen if layout.objects else layout.stripe_offset
    header = _V1.pack(
        PLAIN_MAGICS[layout.magic],
        layout.pattern,
        *layout.owner,
        layout.stripe_size,
        layout.stripe_count & 0xFFFF,
        # getxattr too writes this value when it hides the generation.
        _NOT_TOLD if last is None or (layout.objects and last == 0) else last,
    )
    if layout.magic is not Magic.V1:
        header += (layout.pool or "").encode("ascii").ljust(_POOL_BYTES, b"\0")
    return header + b"".join(
        _OBJECT.pack(o.fid.sequence, o.fid.object_id, o.fid.version, 0, o.ost_idx)
        for o in layout.objects
    )


def _foreign_bytes(layout: Foreign) -> bytes:
    header = _FOREIGN.pack(FOREIGN_MAGIC, len(layout.value), layout.foreign_type, layout.flags)
    return header + layout.value


def _composite_bytes(layout: Composite) -> bytes:
    offset = _COMPOSITE.size + len(layout.components) * _ENTRY.size
    table, blobs = b"", b""
    for component in layout.components:
        blob = encode(component.layout)
        blob += bytes(-len(blob) % _ALIGNMENT)
        end = _EOF if component.extent_end is None else component.extent_end
        table += _ENTRY.pack(
            component.id, component.flags, component.extent_start, end, offset, len(blob)
        )
        blobs += blob
        offset += len(blob)
    header = _COMPOSITE.pack(
        COMPOSITE_MAGIC,
        offset,
        layout.layout_gen,
        layout.flags,
        len(layout.components),
        layout.mirror_count - 1,
    )
    return header + table + blobs
