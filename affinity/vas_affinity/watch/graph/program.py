"""Assembles the BPF programs that the kernel runs at each wake-up; they need no compiler.

One program runs at the raw tracepoint `sched_waking`, in the waker's context. It counts, for each
pair of threads (waker, woken) of the watched processes, the direct wake-ups and those within a
softirq: with loopback sockets, the sender runs the receiver's side there too. Wake-ups by timers
and device interrupts are left out, as the running thread does not cause them; those by a disk's
completed request count for the disk. Small programs at the entries and exits of softirqs, timers
and interrupts keep a flag for each CPU, and one at each completed request the disk.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_LOOKUP, _UPDATE, _CURRENT, _READ_KERNEL = 1, 2, 14, 113
_NO_EXIST = 1
_MAP = 1  # a 64-bit load's pseudo register: the value is a map's descriptor
_R0, _R1, _R2, _R3, _R4, _R6, _R7, _R8, _R9, _FRAME = 0, 1, 2, 3, 4, 6, 7, 8, 9, 10
_OUT = "out"

VALUE_BYTES = 16
KEY_BYTES = 8


@dataclass(frozen=True)
class Offsets:
    """The offsets in bytes of two members of the kernel's `struct task_struct`."""

    pid: int
    tgid: int


# Each CPU's flags, by the bit that the tracepoints set and clear.
_SOFTIRQ, _DEVICE, _HIGH_TIMER, _TIMER = 1, 2, 4, 8
MARKS = {
    "softirq": _SOFTIRQ,
    "irq_handler": _DEVICE,
    "hrtimer_expire": _HIGH_TIMER,
    "timer_expire": _TIMER,
}
"""Tracepoint, without `_entry` and `_exit`, -> flag."""
_NOT_ITS_DOING = _DEVICE | _HIGH_TIMER | _TIMER
# Where a completed request wakes those who wait for it, and no thread runs.
_COMPLETING = _SOFTIRQ | _DEVICE
MINOR_BITS = 20
"""Of the kernel's number of a device (MINORBITS)."""


@dataclass(frozen=True)
class DiskOffsets:
    """The place of a disk's number in a completed request: the offsets in bytes of the pointers
    that lead from `struct request` to `struct gendisk`, and of two members there."""

    pointers: tuple[int, ...]
    major: int
    first_minor: int


@dataclass(frozen=True)
class Maps:
    """The descriptors of the programs' maps.

    CPU -> flags, and in the upper half the disk whose request it completes; watched process -> 1;
    pair of threads (waker, woken) -> two counts, and (disk, woken) -> two counts, of which the
    second is of what happened within a softirq.
    """

    flags: int
    watched: int
    pairs: int
    served: int


class _Assembler:
    def __init__(self) -> None:
        self._words: list[bytes] = []
        self._jumps: list[tuple[int, str]] = []
        self._labels: dict[str, int] = {}

    def put(self, code: int, to: int = 0, of: int = 0, offset: int = 0, value: int = 0) -> None:
        self._words.append(struct.pack("<BBhi", code, of << 4 | to, offset, value))

    def load64(self, to: int, kind: int, value: int) -> None:
        self.put(0x18, to, kind, 0, value)
        self.put(0)

    def call(self, helper: int) -> None:
        self.put(0x85, value=helper)

    def jump(self, code: int, register: int, label: str, value: int = 0) -> None:
        self._jumps.append((len(self._words), label))
        self.put(code, register, value=value)

    def label(self, name: str) -> None:
        self._labels[name] = len(self._words)

    def assembled(self) -> bytes:
        for at, label in self._jumps:
            code, registers, _, value = struct.unpack("<BBhi", self._words[at])
            offset = self._labels[label] - at - 1
            self._words[at] = struct.pack("<BBhi", code, registers, offset, value)
        return b"".join(self._words)


_MOV, _MOV_IMMEDIATE, _ADD, _ADD_IMMEDIATE = 0xBF, 0xB7, 0x0F, 0x07
_AND_IMMEDIATE, _OR_IMMEDIATE, _SHIFT_RIGHT, _SHIFT_LEFT = 0x57, 0x47, 0x77, 0x67
_MOV32, _OR = 0xBC, 0x4F
_LOAD32, _LOAD64, _STORE32, _STORE64, _STORE32_IMMEDIATE, _STORE64_IMMEDIATE = (
    0x61, 0x79, 0x63, 0x7B, 0x62, 0x7A,
)  # fmt: skip
_IF_ZERO, _IF_NOT_ZERO, _ATOMIC_ADD64, _EXIT = 0x15, 0x55, 0xDB, 0x95


def assemble_completion(offsets: DiskOffsets, flags_map: int) -> bytes:
    """Returns the program that notes whose request a CPU has completed, until it leaves the
    interrupt or softirq."""
    a = _Assembler()
    a.put(_LOAD64, _R6, _R1)  # the request
    _find_flags(a, flags_map)
    a.put(_MOV, _R7, _R0)
    a.put(_LOAD64, _R8, _R7)
    a.put(_MOV, _R1, _R8)
    a.put(_AND_IMMEDIATE, _R1, value=_COMPLETING)
    a.jump(_IF_ZERO, _R1, _OUT)
    for offset in offsets.pointers:
        _read(a, offset, -8, 8)
        a.put(_LOAD64, _R6, _FRAME, -8)
    _read(a, offsets.major, -8, 4)
    a.put(_LOAD32, _R9, _FRAME, -8)
    a.put(_SHIFT_LEFT, _R9, value=MINOR_BITS)
    _read(a, offsets.first_minor, -8, 4)
    a.put(_LOAD32, _R1, _FRAME, -8)
    a.put(_OR, _R9, _R1)
    a.put(_SHIFT_LEFT, _R9, value=32)
    a.put(_MOV32, _R8, _R8)  # without the last one's disk
    a.put(_OR, _R8, _R9)
    a.put(_STORE64, _R7, _R8)
    _end(a)
    return a.assembled()


def assemble_mark(flags_map: int, bit: int, *, entry: bool) -> bytes:
    """Returns the program that sets a CPU's flag at an entry, or clears it at an exit. Either ends
    what the CPU has completed: what another handler wakes is not the disk's doing."""
    a = _Assembler()
    _find_flags(a, flags_map)
    a.put(_LOAD64, _R1, _R0)
    a.put(_MOV32, _R1, _R1)
    if entry:
        a.put(_OR_IMMEDIATE, _R1, value=bit)
    else:
        a.put(_AND_IMMEDIATE, _R1, value=~bit)
    a.put(_STORE64, _R0, _R1)
    _end(a)
    return a.assembled()


def assemble_count(offsets: Offsets, maps: Maps) -> bytes:
    """Returns the program that counts a wake-up, by a thread or by a disk's completed request."""
    a = _Assembler()
    a.put(_LOAD64, _R6, _R1)  # the woken task
    _find_flags(a, maps.flags)
    a.put(_LOAD64, _R7, _R0)
    a.put(_MOV, _R8, _R7)
    a.put(_SHIFT_RIGHT, _R8, value=32)
    a.jump(_IF_NOT_ZERO, _R8, "disk")
    a.put(_MOV, _R1, _R7)
    a.put(_AND_IMMEDIATE, _R1, value=_NOT_ITS_DOING)
    a.jump(_IF_NOT_ZERO, _R1, _OUT)
    a.call(_CURRENT)
    a.put(_MOV, _R8, _R0)  # the waker: process in the upper half, thread in the lower
    a.put(_SHIFT_RIGHT, _R0, value=32)
    a.put(_STORE32, _FRAME, _R0, -4)
    _leave_unless_watched(a, maps.watched, -4)
    _leave_unless_woken_is_watched(a, offsets, maps.watched)
    _count(a, maps.pairs, _R8, "pair")
    a.label("disk")
    _leave_unless_woken_is_watched(a, offsets, maps.watched)
    _count(a, maps.served, _R8, "served")
    _end(a)
    return a.assembled()


def _leave_unless_woken_is_watched(a: _Assembler, offsets: Offsets, watched: int) -> None:
    """Puts the woken thread into the second half of the key at -16."""
    _read(a, offsets.tgid, -8, 4)
    _leave_unless_watched(a, watched, -8)
    _read(a, offsets.pid, -8, 4)
    a.put(_LOAD32, _R1, _FRAME, -8)
    a.put(_STORE32, _FRAME, _R1, -12)


def _count(a: _Assembler, table: int, waker: int, name: str) -> None:
    """Adds one to a pair's first count, or to its second within a softirq, and ends."""
    a.put(_STORE32, _FRAME, waker, -16)
    _find(a, table, -16)
    a.jump(_IF_NOT_ZERO, _R0, name + " is known")
    a.put(_STORE64_IMMEDIATE, _FRAME, 0, -32)
    a.put(_STORE64_IMMEDIATE, _FRAME, 0, -24)
    _insert(a, table, -16, -32)
    _find(a, table, -16)
    a.jump(_IF_ZERO, _R0, _OUT)
    a.label(name + " is known")
    a.put(_MOV, _R1, _R7)
    a.put(_AND_IMMEDIATE, _R1, value=_SOFTIRQ)
    a.put(_SHIFT_LEFT, _R1, value=3)
    a.put(_ADD, _R0, _R1)
    a.put(_MOV_IMMEDIATE, _R1, value=1)
    a.put(_ATOMIC_ADD64, _R0, _R1)
    a.put(_MOV_IMMEDIATE, _R0)
    a.put(_EXIT)


def _end(a: _Assembler) -> None:
    a.label(_OUT)
    a.put(_MOV_IMMEDIATE, _R0)
    a.put(_EXIT)


def _find_flags(a: _Assembler, flags: int) -> None:
    a.put(_STORE32_IMMEDIATE, _FRAME, 0, -4)
    _find(a, flags, -4)
    a.jump(_IF_ZERO, _R0, _OUT)


def _find(a: _Assembler, table: int, key: int) -> None:
    a.load64(_R1, _MAP, table)
    a.put(_MOV, _R2, _FRAME)
    a.put(_ADD_IMMEDIATE, _R2, value=key)
    a.call(_LOOKUP)


def _insert(a: _Assembler, table: int, key: int, value: int) -> None:
    a.load64(_R1, _MAP, table)
    a.put(_MOV, _R2, _FRAME)
    a.put(_ADD_IMMEDIATE, _R2, value=key)
    a.put(_MOV, _R3, _FRAME)
    a.put(_ADD_IMMEDIATE, _R3, value=value)
    a.put(_MOV_IMMEDIATE, _R4, value=_NO_EXIST)
    a.call(_UPDATE)


def _leave_unless_watched(a: _Assembler, watched: int, key: int) -> None:
    _find(a, watched, key)
    a.jump(_IF_ZERO, _R0, _OUT)


def _read(a: _Assembler, offset: int, to: int, length: int) -> None:
    """Copies bytes at an offset of what register 6 leads to, to the stack frame; zeros where there
    are none."""
    a.put(_MOV, _R1, _FRAME)
    a.put(_ADD_IMMEDIATE, _R1, value=to)
    a.put(_MOV_IMMEDIATE, _R2, value=length)
    a.put(_MOV, _R3, _R6)
    a.put(_ADD_IMMEDIATE, _R3, value=offset)
    a.call(_READ_KERNEL)
