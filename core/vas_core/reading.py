"""Reads files that somebody else wrote, up to a size: a user's file, or one of a captured tree.

A captured tree is a copy of another machine's files, read as if it were `/`: an absolute link
starts at its top, and `..` does not lead above it. So no link leads to anything of this machine.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.safe_open import what_is
from vas_core.sizes import format_size

# What the kernel allows too (MAXSYMLINKS).
_MOST_LINKS = 40
_OPEN = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_PLACE = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


class LeadsOut(FileNotFoundError):
    """A link of a captured tree leads out of the tree, and is not followed."""


def read_limited(path: Path, most_bytes: int) -> bytes:
    """Returns the content of a file that a user named; links and pipes (`<(...)`) are followed.

    Raises BadInput for more than `most_bytes` and for a device; OSError where it cannot be read.
    """
    with os.fdopen(open_given(path), "rb") as stream:
        _refuse_larger(path, os.fstat(stream.fileno()).st_size, most_bytes)
        return _bounded(stream.read(most_bytes + 1), path, most_bytes)


def read_end(path: Path, most_bytes: int) -> bytes:
    """Returns the last `most_bytes` of a file (all of a shorter one), such as a guest's log.

    Raises BadInput for a device, OSError where it cannot be read.
    """
    with os.fdopen(open_given(path), "rb") as stream:
        length = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, length - most_bytes))
        return stream.read(most_bytes)


def open_given(path: Path) -> int:
    """Opens a file or pipe that a user named, for reading; returns a descriptor.

    A FIFO that nobody writes is empty: it keeps nobody waiting. Raises BadInput for a device,
    IsADirectoryError for a directory, other OSErrors as open() does.
    """
    descriptor = os.open(path, _OPEN)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise BadInput(f"is {what_is(os.fstat(descriptor))}, not a file", where=str(path))
        os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def read_inside(top: Path, relative: str, most_bytes: int) -> bytes:
    """Returns the content of a regular file in a captured tree.

    Raises BadInput for anything else, for more than `most_bytes`, and for links in a circle;
    OSError as open() does where there is no such file.
    """
    path = top / relative
    place = open_place(top, relative)
    try:
        status = os.fstat(place)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise BadInput(f"is {what_is(status)}, not a regular file", where=str(path))
        _refuse_larger(path, status.st_size, most_bytes)
        with os.fdopen(os.open(f"/proc/self/fd/{place}", _OPEN), "rb") as stream:
            return _bounded(stream.read(most_bytes + 1), path, most_bytes)
    finally:
        os.close(place)


def names_inside(top: Path, relative: str) -> list[str]:
    """Returns the names in a directory of a captured tree, sorted.

    Raises BadInput for links in a circle, OSError as open() does.
    """
    place = open_place(top, relative)
    try:
        descriptor = os.open(f"/proc/self/fd/{place}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    finally:
        os.close(place)
    try:
        return sorted(os.listdir(descriptor))  # noqa: PTH208 (of a descriptor)
    finally:
        os.close(descriptor)


def link_inside(top: Path, relative: str) -> Path | None:
    """Returns the target of a link in a captured tree; None if it is not a link or not there.

    Raises BadInput for links in a circle above it, OSError as open() does.
    """
    parent, _, name = relative.rpartition("/")
    try:
        place = open_place(top, parent)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return Path(os.readlink(name, dir_fd=place))
    except OSError as wrong:
        if wrong.errno in (errno.EINVAL, errno.ENOENT, errno.ENOTDIR):
            return None
        raise
    finally:
        os.close(place)


def _bounded(content: bytes, path: Path, most_bytes: int) -> bytes:
    # Its size may have been 0, as in procfs, or have grown.
    _refuse_larger(path, len(content), most_bytes)
    return content


def _refuse_larger(path: Path, size: int, most_bytes: int) -> None:
    if size > most_bytes:
        what = f"is larger than {format_size(most_bytes)}, the most that is read of such a file"
        raise BadInput(what, where=str(path))


def open_place(top: Path, relative: str, *, within: bool = False) -> int:
    """Returns an O_PATH descriptor of what a path leads to in a captured tree; reads nothing.

    An absolute link starts at the top, and `..` does not lead above it. With `within` both raise
    LeadsOut: the kernel, which opens the path later, would leave the tree there.
    Raises BadInput for links in a circle, OSError as open() does.
    """
    stack = [os.open(top, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)]
    left, followed = relative.split("/")[::-1], 0
    try:
        while left:
            part = left.pop()
            if within and part == ".." and len(stack) == 1:
                raise LeadsOut(errno.ENOENT, "leads out of the tree")
            target = _step(stack, part)
            if target is None:
                continue
            followed += 1
            if followed > _MOST_LINKS:
                raise BadInput("symbolic links lead in a circle", where=str(top / relative))
            if target.startswith("/"):
                if within:
                    raise LeadsOut(errno.ENOENT, "leads out of the tree")
                _shorten(stack, 1)
            left += target.split("/")[::-1]
        return stack.pop()
    except LeadsOut:
        raise
    except OSError as wrong:
        raise OSError(wrong.errno, wrong.strerror, str(top / relative)) from wrong
    finally:
        _shorten(stack, 0)


def _step(stack: list[int], part: str) -> str | None:
    """Goes into one part of a path; of a link returns the target and stays."""
    if part == "..":
        _shorten(stack, max(1, len(stack) - 1))
    if part in ("", ".", ".."):
        return None
    entry = os.open(part, _PLACE, dir_fd=stack[-1])
    if not stat.S_ISLNK(os.fstat(entry).st_mode):
        stack.append(entry)
        return None
    try:
        return os.readlink("", dir_fd=entry)
    finally:
        os.close(entry)


def _shorten(stack: list[int], length: int) -> None:
    while len(stack) > length:
        os.close(stack.pop())
