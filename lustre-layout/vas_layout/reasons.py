"""Explains errors of the kernel and of `lfs`, which exits with the kernel's error number."""

from __future__ import annotations

import errno
import os

from vas_layout.errors import LayoutUnavailableError

_MOUNTS = "`findmnt -t lustre` lists the mounts"
_RIGHTS = "ask the owner for it, or run as the owner"
NOT_LUSTRE = (errno.ENOTTY, errno.EOPNOTSUPP)
_REASONS: dict[int, tuple[str, str | None]] = {
    errno.ENOENT: ("no such file or directory", None),
    **dict.fromkeys(NOT_LUSTRE, ("not on a Lustre file system", _MOUNTS)),
    errno.EACCES: ("no permission", _RIGHTS),
    errno.EPERM: ("no permission", _RIGHTS),
    errno.ENODATA: ("has no layout of its own", None),
    errno.EEXIST: ("exists already", "choose another name"),
    errno.EINVAL: (
        "Lustre refuses this layout",
        "check the OST indices and the pool with `lfs osts` and `lfs pool_list`",
    ),
    errno.ENOSPC: ("no OST has room", "free some space: `lfs df` shows where"),
    errno.EDQUOT: ("quota exceeded", "free some space: `lfs quota` shows how much"),
    errno.EIO: ("input/output error", "see `lfs check all` and the kernel's log"),
    errno.ENOTCONN: ("an OST or the MDT is not connected", "see `lfs check all`"),
}


def refusal(number: int) -> tuple[str, str | None]:
    """Returns the meaning of an error number for a layout, and a hint or None."""
    return _REASONS.get(number, (os.strerror(number), None))


def unavailable(error: OSError, path: str) -> LayoutUnavailableError:
    """Returns a kernel error as LayoutUnavailableError with the path and a hint."""
    number = error.errno or 0
    what, hint = refusal(number)
    return LayoutUnavailableError(what, where=path, hint=hint, errno=number)
