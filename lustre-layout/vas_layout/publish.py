"""Gives a finished file its final name, only if the name does not exist."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

from vas_core.files import fsync_directory
from vas_layout.reasons import unavailable

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
# Errors of a file system (or kernel) without the flag.
_NOT_SUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)


def publish(hidden: Path, final: Path) -> None:
    """Renames `hidden` to `final`, durably.

    Raises LayoutUnavailableError if `final` exists or the rename fails, OSError if the new name
    cannot be made durable.
    """
    try:
        _rename_noreplace(hidden, final)
    except OSError as error:
        raise unavailable(error, str(final)) from error
    fsync_directory(final.parent)


def _rename_noreplace(hidden: Path, final: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    status = libc.renameat2(
        _AT_FDCWD, os.fsencode(hidden), _AT_FDCWD, os.fsencode(final), _RENAME_NOREPLACE
    )
    if status == 0:
        return
    number = ctypes.get_errno()
    if number not in _NOT_SUPPORTED:
        raise OSError(number, os.strerror(number))
    # link() does not replace a name either.
    final.hardlink_to(hidden)
    hidden.unlink()
