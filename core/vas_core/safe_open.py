"""Opens files whose names another user can foresee, and so may have put something else there.

A name is safe to open when it is a regular file, of the user who runs this, with no second name.
`O_NOFOLLOW` refuses a symbolic link, `O_NONBLOCK` keeps a FIFO from blocking the open, and the rest
is asked of the open file, not of its name. Directories above the name are the caller's choice.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress
from pathlib import Path

from vas_core.errors import VasError

_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# What open() answers for a name that is there and no file for us to open.
_NOT_A_FILE = (errno.ELOOP, errno.EISDIR, errno.ENXIO, errno.ENODEV, errno.ENOTDIR)
_HINT = "remove it if it is not yours to keep: somebody may have planted it"
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFDIR: "a directory",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class Planted(VasError):
    """A file name of VAS leads to something that VAS did not put there; `where` is the path.

    It was not touched.
    """


def open_own(
    path: Path,
    flags: int,
    *,
    mode: int = 0o600,
    dir_fd: int | None = None,
    also_of: tuple[int, ...] | None = (),
) -> int:
    """Opens a regular file of this user under a foreseeable name; returns a descriptor.

    `flags` are those of `os.open`; with O_TRUNC the file is emptied after it was checked. `also_of`
    lists further user ids that may own the file; None allows any. With `dir_fd` the last part of
    `path` is opened in that directory, and the whole `path` stands in messages.

    Raises Planted for a link, a file with a second name, a stranger's file, a FIFO, a socket, a
    device or a directory; OSError, with the path, for everything else.
    """
    descriptor = _opened(path, flags & ~os.O_TRUNC | _SAFE, mode, dir_fd)
    try:
        _refuse(path, os.fstat(descriptor), also_of)
        os.set_blocking(descriptor, True)
        if flags & os.O_TRUNC:
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def is_locked(path: Path) -> bool:
    """Returns whether a process holds the lock (`flock`) of a file of any user.

    Raises Planted and OSError as `open_own` does.
    """
    descriptor = open_own(path, os.O_RDONLY, also_of=None)
    try:
        # Shared, so that two who look do not take each other for the holder.
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _opened(path: Path, flags: int, mode: int, dir_fd: int | None) -> int:
    name = path.name if dir_fd is not None else os.fspath(path)
    with suppress(FileNotFoundError):
        # Before the open as well: to open a device may do something (a tape rewinds).
        _refuse(path, os.stat(name, dir_fd=dir_fd, follow_symlinks=False), None)
    try:
        return os.open(name, flags, mode, dir_fd=dir_fd)
    except OSError as wrong:
        if wrong.errno in _NOT_A_FILE:
            _refuse(path, os.stat(name, dir_fd=dir_fd, follow_symlinks=False), None)
        raise OSError(wrong.errno, wrong.strerror, str(path)) from wrong


def open_own_directory(path: Path, *, dir_fd: int | None = None) -> int:
    """Opens a directory that is this user's alone (no right for group or others).

    Raises Planted for anything else under that name; OSError, with the path, for everything else:
    FileNotFoundError where nothing has the name.
    """
    name = path.name if dir_fd is not None else os.fspath(path)
    try:
        descriptor = os.open(name, _DIRECTORY, dir_fd=dir_fd)
    except OSError as wrong:
        if wrong.errno in (errno.ELOOP, errno.ENOTDIR):
            what = what_is(os.stat(name, dir_fd=dir_fd, follow_symlinks=False))
            raise Planted(f"is {what}, not a directory", where=str(path), hint=_HINT) from wrong
        raise OSError(wrong.errno, wrong.strerror, str(path)) from wrong
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        os.close(descriptor)
        what = f"is not a directory of this user alone (0700): uid {status.st_uid}"
        raise Planted(f"{what}, mode {stat.S_IMODE(status.st_mode):04o}", where=str(path))
    return descriptor


def read_own(
    path: Path, most_bytes: int, *, dir_fd: int | None = None, also_of: tuple[int, ...] | None = ()
) -> bytes:
    """Returns the content of a regular file of this user under a foreseeable name.

    `dir_fd` and `also_of` are those of `open_own`. Raises VasError if it is longer than
    `most_bytes`, Planted and OSError as `open_own` does.
    """
    descriptor = open_own(path, os.O_RDONLY, dir_fd=dir_fd, also_of=also_of)
    with os.fdopen(descriptor, "rb") as stream:
        content = stream.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise VasError(f"is longer than {most_bytes} bytes", where=str(path))
    return content


def unlink_file(path: Path) -> None:
    """Removes a file with a foreseeable name, if it exists; of a link only the link itself.

    Raises Planted for a directory, OSError as unlink does.
    """
    try:
        path.unlink(missing_ok=True)
    except (IsADirectoryError, PermissionError):
        if path.is_symlink() or not path.is_dir():
            raise
        raise Planted("is a directory, not a file", where=str(path), hint=_HINT) from None


def what_is(status: os.stat_result) -> str:
    """Returns the kind of a directory entry in words: `a FIFO`."""
    return _KINDS.get(stat.S_IFMT(status.st_mode), "a regular file")


def _refuse(path: Path, status: os.stat_result, also_of: tuple[int, ...] | None) -> None:
    if not stat.S_ISREG(status.st_mode):
        what = f"is {what_is(status)}, not a regular file"
    elif status.st_nlink > 1:
        what = f"is a hard link: the file has {status.st_nlink} names"
    elif also_of is not None and status.st_uid not in (os.geteuid(), *also_of):
        what = f"belongs to user id {status.st_uid}, not to {os.geteuid()}"
    else:
        return
    raise Planted(what, where=str(path), hint=_HINT)
