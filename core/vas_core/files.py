"""Writes a file so that a reader sees the old content or the new; makes directories for it."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from vas_core.errors import BadInput


def write_atomically(path: Path, content: str | bytes, *, mode: int = 0o644) -> None:
    """Replaces the file `path` durably: by write, fsync, rename, and fsync of the directory.

    Raises OSError with `path` as its file name.
    """
    data = content.encode() if isinstance(content, str) else content
    try:
        _replace(path, data, mode)
    except OSError as wrong:
        raise OSError(wrong.errno, wrong.strerror, str(path)) from wrong


def check_writable(path: Path) -> None:
    """Raises BadInput if `write_atomically` could not write this file.

    A command that takes long before it writes calls this first.
    """
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as wrong:
        what = f"cannot be written: {wrong.strerror}"
        hint = "name a file in a directory that exists and that you may write to"
        raise BadInput(what, where=str(path), hint=hint) from wrong


def _replace(path: Path, data: bytes, mode: int) -> None:
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(stream.fileno(), mode)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.rename(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    fsync_directory(path.parent)


def make_directories(path: Path, *, mode: int = 0o755) -> None:
    """Makes a directory with this mode, and missing ones above it with 0755, whatever the umask.

    An existing directory keeps its mode. Raises OSError as mkdir does.
    """
    if path.is_dir():
        return
    make_directories(path.parent)
    try:
        path.mkdir(mode)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(mode)


def fsync_directory(directory: Path) -> None:
    """Makes the names in `directory` durable (a rename is not, until then). Raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def stamp_of(path: Path) -> tuple[int, int, int] | None:
    """Returns mtime (ns), size and inode of a file, to see whether it was written since.

    Returns None if the file is missing or cannot be looked at.

    The time alone is not enough: a file that is emptied and written within one tick of the kernel's
    clock (4 ms at HZ=250) has one time for both.
    """
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
