"""Drops the privileges that the daemon needs at its start only, and asks for real-time priority."""

from __future__ import annotations

import ctypes
import os
import struct

_CAP_NET_RAW = 13
_VERSION_3 = 0x20080522
_AMBIENT, _CLEAR_ALL = 47, 4  # prctl: PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL
_DATA = struct.Struct("=6I")  # effective, permitted, inheritable; twice, as of capset(2)


def drop_net_raw() -> None:
    """Removes CAP_NET_RAW from this process's capability sets for good. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    header = struct.pack("=Ii", _VERSION_3, 0)
    data = ctypes.create_string_buffer(_DATA.size)
    _check(libc.capget(header, data))
    sets = list(_DATA.unpack(data.raw))
    for index in range(3):
        sets[index] &= ~(1 << _CAP_NET_RAW)
    _check(libc.prctl(_AMBIENT, _CLEAR_ALL, 0, 0, 0))
    _check(libc.capset(header, _DATA.pack(*sets)))


def ask_for_priority() -> bool:
    """Asks for real-time priority for this thread: a switch waits until the thread gets a core.

    Returns False without the right to it (RLIMIT_RTPRIO), or on a kernel that gives real time to
    groups only.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        return False
    return True


def give_up_priority() -> bool:
    """Gives this thread the usual priority instead of the one that it has inherited.

    Returns False if the kernel refuses that (EPERM, seen in a user namespace).
    """
    try:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    except PermissionError:
        return False
    return True


def _check(result: int) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
