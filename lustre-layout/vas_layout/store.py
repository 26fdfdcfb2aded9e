"""Reads the attribute `lustre.lov` of files, and sets it on a file that is being created."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from vas_core.errors import NotHere
from vas_layout.codec import decode, encode
from vas_layout.errors import LayoutError, LayoutUnavailableError
from vas_layout.lfs import Lfs
from vas_layout.model import ALL_OSTS, Composite, Layout, Plain
from vas_layout.paths import is_directory
from vas_layout.reasons import NOT_LUSTRE, unavailable

XATTR_NAME = "lustre.lov"

# A client that refuses or ignores the attribute may still accept the request by ioctl.
_ASK_LFS = (errno.EOPNOTSUPP, errno.EPERM)
_Request = TypeVar("_Request", bound=Layout)


@dataclass(frozen=True)
class XattrStore:
    """Reads and writes layouts by getxattr and setxattr: one system call, no process."""

    name: str = XATTR_NAME

    def read(self, path: Path) -> Layout:
        """Returns the layout of a file, or the default of a directory.

        Raises LayoutUnavailableError; its `errno` is ENODATA for a directory without a default.
        """
        try:
            return decode(os.getxattr(path, self.name))
        except OSError as error:
            raise unavailable(error, str(path)) from error
        except LayoutError as wrong:
            raise LayoutUnavailableError(wrong.what, where=str(path)) from wrong

    def write(self, path: Path, request: Layout) -> None:
        """Requests a layout; the kernel ignores this silently on a file that has one.

        Raises LayoutUnavailableError if the kernel refuses.
        """
        try:
            # Not through a link that replaced the file since its creation.
            os.setxattr(path, self.name, encode(request), follow_symlinks=False)
        except OSError as error:
            raise unavailable(error, str(path)) from error


@dataclass(frozen=True)
class LayoutReader:
    """Reads layouts by attribute, or by `lfs` for a file that the user may not read."""

    store: XattrStore = field(default_factory=XattrStore)
    lfs: Lfs = field(default_factory=Lfs)

    def read(self, path: Path) -> Layout:
        """Returns the layout of a file or the default of a directory.

        Raises LayoutUnavailableError if neither the attribute nor `lfs` gives one.
        """
        try:
            return self.store.read(path)
        except LayoutUnavailableError as refused:
            if refused.errno not in (errno.EACCES, errno.EPERM):
                raise
        return self.lfs.getstripe(path, directory_itself=is_directory(path))

    def refuse_other_file_systems(self, directory: Path) -> None:
        """Raises LayoutUnavailableError for a directory that is not on a Lustre file system."""
        try:
            self.store.read(directory)
        except LayoutUnavailableError as refused:
            if refused.errno in NOT_LUSTRE:
                raise


@dataclass(frozen=True)
class Created:
    """A new file's layout, and the differences from the request that Lustre made silently."""

    layout: Layout
    adjusted: tuple[str, ...] = ()


def create_with_layout(
    path: Path,
    request: Layout,
    *,
    mode: int = 0o644,
    store: XattrStore | None = None,
    lfs: Lfs | None = None,
) -> Created:
    """Creates an empty file with the requested layout.

    It is made by mknod(): open(O_CREAT) gives the file the directory's default at once, and a later
    setxattr then returns 0 and does nothing. So the layout is read back.
    Where the attribute cannot be set or is ignored, `lfs setstripe` sets it, if installed.
    Raises LayoutUnavailableError if the name exists, or if the layout cannot be set; then the new
    file is removed.
    """
    store = store or XattrStore()
    reader = LayoutReader(store, lfs or Lfs())
    try:
        return _create(path, request, mode, store.write, reader)
    except LayoutUnavailableError as refused:
        if refused.errno not in _ASK_LFS or not isinstance(request, Plain):
            raise
        try:
            return _create(path, request, mode, reader.lfs.setstripe, reader)
        except NotHere:
            raise refused from None


def _create(
    path: Path,
    request: _Request,
    mode: int,
    write: Callable[[Path, _Request], None],
    reader: LayoutReader,
) -> Created:
    try:
        os.mknod(path, stat.S_IFREG | mode)
        made_file = path.lstat()
    except OSError as error:
        raise unavailable(error, str(path)) from error
    try:
        write(path, request)
        made = reader.read(path)
        if _ignored(request, made):
            raise LayoutUnavailableError(
                "Lustre ignored the requested layout",
                where=str(path),
                hint="give the directory this default with `lfs setstripe` instead",
                errno=errno.EOPNOTSUPP,
            )
        return Created(made, tuple(_adjustments(request, made)))
    except BaseException:
        _unlink_if(path, made_file)
        raise


def _unlink_if(path: Path, made: os.stat_result) -> None:
    """Removes the file created here, but not another file that replaced it meanwhile."""
    with suppress(FileNotFoundError):
        if os.path.samestat(path.lstat(), made):
            path.unlink()


def _ignored(request: Layout, made: Layout) -> bool:
    match request, made:
        case Plain(), Plain():
            wrong_size = request.stripe_size not in (0, made.stripe_size)
            start = request.stripe_offset
            return wrong_size or (start is not None and start != made.stripe_offset)
        case Composite(), Composite():
            wanted = [(c.extent_start, c.extent_end) for c in request.components]
            return wanted != [(c.extent_start, c.extent_end) for c in made.components]
        case _:
            return True


def _adjustments(request: Layout, made: Layout) -> list[str]:
    if not (isinstance(request, Plain) and isinstance(made, Plain)):
        return []
    found = []
    if request.stripe_count not in (0, ALL_OSTS, made.stripe_count):
        found.append(f"{made.stripe_count} stripes instead of {request.stripe_count}")
    if request.pool is not None and request.pool != made.pool:
        found.append(f"pool {made.pool or 'none'} instead of {request.pool}")
    if [o.ost_idx for o in request.objects] not in ([], [o.ost_idx for o in made.objects]):
        found.append("other OSTs than those listed")
    return found
