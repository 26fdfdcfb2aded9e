"""Does what systemd's RestrictSUIDSGID=yes does, without systemd: its seccomp filter for chmod."""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUALS, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_SET_ID_BITS = 0o6000
# Offset of the call's number and of its arguments in struct seccomp_data.
_NUMBER, _ARGUMENTS = 0, 16
# chmod, fchmod, fchmodat: number and which argument is the mode.
_CALLS = {
    "x86_64": ((90, 1), (91, 1), (268, 2)),
    "aarch64": ((52, 1), (53, 2)),
}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _instructions() -> list[bytes]:
    program = []
    for number, mode in _CALLS[platform.machine()]:
        program += [
            _instruction(_LOAD, 0, 0, _NUMBER),
            _instruction(_EQUALS, 0, 3, number),
            _instruction(_LOAD, 0, 0, _ARGUMENTS + 8 * mode),
            _instruction(_ANY_BIT, 0, 1, _SET_ID_BITS),
            _instruction(_RETURN, 0, 0, _REFUSE),
        ]
    return [*program, _instruction(_RETURN, 0, 0, _ALLOW)]


def _instruction(code: int, if_true: int, if_false: int, value: int) -> bytes:
    return struct.pack("HBBI", code, if_true, if_false, value)


def restrict() -> None:
    """Puts this process, and all that it starts, under the filter for good. Raises OSError."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = _instructions()
    program = _Program(len(code), b"".join(code))
    for words in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, ctypes.byref(program))):
        if libc.prctl(*words) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
