"""Reads a Java class file: its constants, fields, and the instructions of its methods.

Chapters 4 and 6 of the Java Virtual Machine Specification have the format and the instructions.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_MAGIC = b"\xca\xfe\xba\xbe"
_UTF8, _CLASS, _NAME_AND_TYPE, _METHOD_HANDLE = 1, 7, 12, 15
_REFERENCES = (9, 10, 11)
# Bytes behind the tag of a constant, by the tag.
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4} | {
    15: 3, 16: 2, 17: 4, 18: 4, 19: 2, 20: 2
}  # fmt: skip
# Long and Double take two places in the table.
_WIDE_CONSTANTS = (5, 6)
# Names of classes and members, with the types of their arguments; compilers stay far below.
_LONGEST_NAME = 8192
_SYNTHETIC = 0x1000
_TABLESWITCH, _LOOKUPSWITCH, _WIDE, _IINC = 0xAA, 0xAB, 0xC4, 0x84
PUT_STATIC = 0xB3
INVOKES = (0xB6, 0xB7, 0xB8, 0xB9)
# Length of instructions, where it is not 1.
_LENGTHS = (
    dict.fromkeys((0x10, 0x12, *range(0x15, 0x1A), *range(0x36, 0x3B), 0xA9, 0xBC), 2)
    | dict.fromkeys((0x11, 0x13, 0x14, _IINC, *range(0x99, 0xA9), *range(0xB2, 0xB9)), 3)
    | dict.fromkeys((0xBB, 0xBD, 0xC0, 0xC1, 0xC6, 0xC7), 3)
    | dict.fromkeys((0xB9, 0xBA, 0xC8, 0xC9), 5)
    | {0xC5: 4}
)
_LAST_INSTRUCTION = 0xC9


class NotAClass(ValueError):
    """The bytes are not a class file."""


@dataclass(frozen=True)
class Member:
    """A field or method that code names; the owner is written `java/lang/System`."""

    owner: str
    name: str
    descriptor: str


@dataclass(frozen=True)
class MemberUse:
    """An instruction that names a member: the method it stands in, and its opcode.

    An empty method: the class file names the member by a method handle (`System::exit`).
    """

    method: str
    descriptor: str
    opcode: int
    member: Member


class ClassFile:
    """A parsed Java class file. Raises NotAClass for other bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._texts: dict[int, str] = {}
        try:
            self._read()
        except (IndexError, struct.error, TypeError) as wrong:
            raise NotAClass("is cut off or damaged") from wrong

    def _read(self) -> None:
        if self._data[:4] != _MAGIC:
            raise NotAClass("does not begin as a class file does")
        at = self._read_constants()
        _, this, parent, interfaces = struct.unpack_from(">HHHH", self._data, at)
        self.name = self._class_name(this)
        self.parent = self._class_name(parent) if parent else ""
        self.synthetic_fields: set[str] = set()
        self._methods: list[tuple[str, str, int, int]] = []
        at = self._read_members(at + 8 + 2 * interfaces, is_field=True)
        self._read_members(at, is_field=False)

    def _read_constants(self) -> int:
        """Notes where each constant is; returns where they end."""
        (count,) = struct.unpack_from(">H", self._data, 8)
        self._constants: list[tuple[int, int]] = [(0, 0)]
        at = 10
        while len(self._constants) < count:
            tag = self._data[at]
            self._constants.append((tag, at + 1))
            if tag == _UTF8:
                at += 3 + self._short(at + 1)
            elif tag in _SIZES:
                at += 1 + _SIZES[tag]
            else:
                raise NotAClass(f"has a constant of the unknown kind {tag}")
            if tag in _WIDE_CONSTANTS:
                self._constants.append((0, 0))
        return at

    def _read_members(self, at: int, is_field: bool) -> int:
        count = self._short(at)
        at += 2
        for _ in range(count):
            flags, name, descriptor, attributes = struct.unpack_from(">HHHH", self._data, at)
            if is_field and flags & _SYNTHETIC:
                self.synthetic_fields.add(self._text(name))
            at += 8
            for _ in range(attributes):
                kind, length = struct.unpack_from(">HI", self._data, at)
                at += 6
                if not is_field and self._text(kind) == "Code":
                    size = struct.unpack_from(">HHI", self._data, at)[2]
                    if size + 8 > length:
                        raise NotAClass("is cut off or damaged")
                    code = (self._text(name), self._text(descriptor), at + 8, at + 8 + size)
                    self._methods.append(code)
                at += length
        return at

    def uses(self) -> Iterator[MemberUse]:
        """Yields each static field that code sets, and each method that code calls or names.

        Raises NotAClass where an instruction or a constant is damaged.
        """
        try:
            for method, descriptor, start, end in self._methods:
                asked = {
                    (opcode, self._short(at + 1)): None
                    for opcode, at in self._instructions(start, end)
                    if opcode == PUT_STATIC or opcode in INVOKES
                }
                for opcode, index in asked:
                    yield MemberUse(method, descriptor, opcode, self._member(index))
            for tag, at in self._constants:
                # Kinds 5 to 9 are methods (table 5.4.3.5-A).
                if tag == _METHOD_HANDLE and self._data[at] >= 5:
                    yield MemberUse("", "", INVOKES[0], self._member(self._short(at + 1)))
        except (IndexError, struct.error, TypeError) as wrong:
            raise NotAClass("is cut off or damaged") from wrong

    def _instructions(self, at: int, end: int) -> Iterator[tuple[int, int]]:
        start = at
        if end > len(self._data):
            raise NotAClass("is cut off or damaged")
        while at < end:
            opcode = self._data[at]
            yield opcode, at
            if opcode in (_TABLESWITCH, _LOOKUPSWITCH):
                at = self._behind_switch(opcode, at, at + 4 - (at - start) % 4)
            elif opcode == _WIDE:
                at += 6 if self._data[at + 1] == _IINC else 4
            elif opcode <= _LAST_INSTRUCTION:
                at += _LENGTHS.get(opcode, 1)
            else:
                raise NotAClass(f"has the unknown instruction {opcode}")

    def _behind_switch(self, opcode: int, at: int, table: int) -> int:
        if opcode == _TABLESWITCH:
            _, low, high = struct.unpack_from(">iii", self._data, table)
            behind = table + 12 + 4 * (high - low + 1)
        else:
            _, pairs = struct.unpack_from(">ii", self._data, table)
            behind = table + 8 + 8 * pairs
        if behind <= at:
            raise NotAClass("is cut off or damaged")
        return int(behind)

    def _member(self, index: int) -> Member:
        owner, name_and_type = struct.unpack_from(
            ">HH", self._data, self._place(index, *_REFERENCES)
        )
        place = self._place(name_and_type, _NAME_AND_TYPE)
        name, descriptor = struct.unpack_from(">HH", self._data, place)
        return Member(self._class_name(owner), self._text(name), self._text(descriptor))

    def _class_name(self, index: int) -> str:
        return self._text(self._short(self._place(index, _CLASS)))

    def _text(self, index: int) -> str:
        known = self._texts.get(index)
        if known is not None:
            return known
        at = self._place(index, _UTF8)
        length = self._short(at)
        if length > _LONGEST_NAME:
            raise NotAClass(f"has a name of more than {_LONGEST_NAME} bytes")
        text = self._data[at + 2 : at + 2 + length].decode("utf-8", "replace")
        self._texts[index] = text
        return text

    def _place(self, index: int, *tags: int) -> int:
        tag, at = self._constants[index]
        if tag not in tags:
            raise NotAClass("names a constant of the wrong kind")
        return at

    def _short(self, at: int) -> int:
        return int.from_bytes(self._data[at : at + 2], "big")
