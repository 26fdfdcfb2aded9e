"""Checks for room on the disk that a lab's state lies on, and words the errors without it."""

from __future__ import annotations

import errno
import os
import shutil
from contextlib import suppress
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_core.sizes import format_size

# Configuration, logs and YARN's state of a lab that has run a dozen jobs.
LAB_BYTES = 512 << 20
_MIB = 1 << 20
# What the JVM, Python and YARN print of the same condition.
_FULL = ("No space left on device", "Disk quota exceeded", "any valid local directory")
_HINTS = {
    errno.ENOSPC: "the disk is full: free some space",
    errno.EDQUOT: "the quota is used up: free some space",
    errno.EACCES: "set VAS_LABS to a directory of your own",
    errno.EIO: "the disk fails: see the kernel's log",
}


def free_bytes(directory: Path) -> int:
    """Returns the free bytes of the disk on which `directory` is, or will be made."""
    there = next(path for path in (directory, *directory.parents) if path.exists())
    return shutil.disk_usage(there).free


def used_bytes(directory: Path) -> int:
    """Returns the bytes that a tree's files hold; a file that vanishes meanwhile counts as 0."""
    total = 0
    for parent, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total


def check_disk(free: int, *, size: int = 0, copies: int = 0) -> None:
    """Raises BadInput unless a lab and `copies` times `size` bytes fit into `free` bytes."""
    needed = LAB_BYTES + copies * size
    if needed <= free:
        return
    fitting = max(0, free - LAB_BYTES) // (copies * _MIB) if copies else 0
    raise BadInput(
        f"{format_size(needed)} are needed, and {format_size(free)} are free",
        where="disk",
        hint=f"give --size {fitting}M, or free some space" if fitting else "free some space",
    )


def disk_error(wrong: OSError, where: Path) -> VasError:
    """Returns an OSError as VasError, with the fix if one is known; `where` if it names no file."""
    path = os.fsdecode(wrong.filename) if wrong.filename else str(where)
    what = wrong.strerror or str(wrong)
    return VasError(what, where=path, hint=_HINTS.get(wrong.errno or 0))


def says_full(text: str) -> bool:
    """Returns whether a program's output reports a full disk."""
    return any(words in text for words in _FULL)
