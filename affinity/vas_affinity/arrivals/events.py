"""Parses and filters the process events of the kernel's connector. Pure.

Layout of a message: struct nlmsghdr (16 bytes), struct cn_msg (20), struct proc_event, whose
`what` is at byte 36 and whose data begin at byte 52 (include/uapi/linux/cn_proc.h).
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import IntEnum

CN_IDX_PROC = 1
_CN_VAL_PROC = 1
_LISTEN, _IGNORE = 1, 2  # PROC_CN_MCAST_LISTEN, PROC_CN_MCAST_IGNORE
_NLMSG_DONE = 3
KTHREADD = 2
"""The kernel's thread that starts its other threads."""
MOST_FILTERED = 200
"""Most processes that a filter names: the kernel keeps filters in little memory (optmem_max)."""
_HEADER = struct.Struct("=IHHII")
_CONNECTOR = struct.Struct("=IIIIHH")
_EVENT = struct.Struct("=IIQ")
_FOUR = struct.Struct("=IIII")
_DATA = 52
_WHAT_AT, _FIRST_TGID_AT, _CHILD_TGID_AT = 36, 56, 64
_LOAD, _JUMP, _IF_EQUAL, _RETURN = 0x20, 0x05, 0x15, 0x06  # linux/bpf_common.h
_ALL = 0xFFFFFFFF


class What(IntEnum):
    """The events that are heard; the kernel's numbers."""

    ACK = 0x0
    FORK = 0x1
    EXEC = 0x2
    COMM = 0x200


@dataclass(frozen=True)
class ProcEvent:
    """A thread `tid` of process `pid` appeared, ran another program, or changed its name.

    `at_ns` is of the monotonic clock. Of an answer to a request, `pid` is the errno.
    """

    what: What
    pid: int
    tid: int
    at_ns: int
    answers: int = 0
    """Of an answer: the number of the request."""


def request(number: int, port: int, *, listen: bool = True) -> bytes:
    """Returns the message that asks the kernel to send process events to a socket, or to end it.

    The kernel answers with `number` + 1 as the acknowledgement; the sequence is its own count.
    """
    body = struct.pack("=I", _LISTEN if listen else _IGNORE)
    message = _CONNECTOR.pack(CN_IDX_PROC, _CN_VAL_PROC, 0, number, len(body), 0) + body
    return _HEADER.pack(_HEADER.size + len(message), _NLMSG_DONE, 0, 0, port) + message


def parse(message: bytes) -> ProcEvent | None:
    """Parses a message of the connector; None for an event that is not used.

    Raises ValueError if it is not one.
    """
    try:
        length = _HEADER.unpack_from(message)[0]
        index, value, _, ack, _, _ = _CONNECTOR.unpack_from(message, _HEADER.size)
        what, _, at_ns = _EVENT.unpack_from(message, _WHAT_AT)
        one, two, three, four = _FOUR.unpack_from(message, _DATA)
    except struct.error as short:
        raise ValueError(f"a message of {len(message)} bytes") from short
    if length > len(message) or (index, value) != (CN_IDX_PROC, _CN_VAL_PROC):
        raise ValueError("not a process event")
    if what == What.ACK:
        return ProcEvent(What.ACK, one, 0, at_ns, (ack - 1) & _ALL)
    if what == What.FORK:
        return ProcEvent(What.FORK, four, three, at_ns)
    return ProcEvent(What(what), two, one, at_ns) if what in (What.EXEC, What.COMM) else None


def filter_of(pids: Collection[int], *, programs: bool = True) -> bytes:
    """Returns the socket filter (classic BPF) for events of these processes, and of no others.

    It lets through answers, new threads, names and children of the processes, and the kernel's new
    threads; every exec, or without `programs` those of the processes. With more than MOST_FILTERED
    processes all forks and names pass.
    """
    wanted = sorted(pids) if len(pids) <= MOST_FILTERED else None
    of_child = _accept_if(_CHILD_TGID_AT, wanted)
    of_first = _accept_if(_FIRST_TGID_AT, wanted if wanted is None else [*wanted, KTHREADD])
    steps = [
        (_LOAD, 0, 0, _WHAT_AT),
        *_accept_equal(What.ACK),
        *(_accept_equal(What.EXEC) if programs else [(_IF_EQUAL, 3, 0, _swapped(What.EXEC))]),
        (_IF_EQUAL, 3, 0, _swapped(What.FORK)),
        (_IF_EQUAL, 1, 0, _swapped(What.COMM)),
        (_RETURN, 0, 0, 0),
        (_JUMP, 0, 0, len(of_child)),
        *of_child,
        *of_first,
        (_RETURN, 0, 0, 0),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _accept_if(at: int, wanted: list[int] | None) -> list[tuple[int, int, int, int]]:
    if wanted is None:
        return [(_RETURN, 0, 0, _ALL)]
    return [(_LOAD, 0, 0, at), *(step for pid in wanted for step in _accept_equal(pid))]


def _accept_equal(word: int) -> Iterator[tuple[int, int, int, int]]:
    yield _IF_EQUAL, 0, 1, _swapped(word)
    yield _RETURN, 0, 0, _ALL


def _swapped(word: int) -> int:
    """Returns a word as the filter loads it: from big-endian, while messages are of the host."""
    return int(struct.unpack(">I", struct.pack("=I", word))[0])
