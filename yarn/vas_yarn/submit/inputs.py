"""Finds the size of a job's input, by the paths among its arguments."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from vas_yarn.submit.rule import Input

# Each is a question to the metadata server, also what turns out to be no input.
_MOST_LOOKS = 10_000
_WILDCARDS = set("*?[")
_ONE_SPLIT = {".gz", ".deflate", ".lz4", ".snappy", ".zst"}


def find_input(
    words: Sequence[str], mount: Path, block_bytes: int, *, home: str = ""
) -> Input | None:
    """Returns the size of the existing files that arguments name: a job's output is not there yet.

    `mount` is where Lustre is on this machine. Names without a leading slash are below `home`, the
    user's directory in it; if that is empty, they are skipped. Wildcards are the shell's, as
    Hadoop's mostly are. Returns None if nothing is found, or after 10,000 files and directories.
    """
    paths = chain.from_iterable(
        _paths(name, mount, home) for word in words for name in word.split(",")
    )
    looks = chain.from_iterable(map(_look, paths))
    is_found, total, largest = False, 0, 0
    for count, found in enumerate(looks, start=1):
        if count > _MOST_LOOKS:
            return None
        if found is not None:
            size, is_one_split = found
            is_found, total = True, total + size
            largest = max(largest, size if is_one_split else min(size, block_bytes))
    return Input(total, largest) if is_found else None


def _paths(name: str, mount: Path, home: str) -> Iterator[Path]:
    try:
        uri = urlsplit(name)
    except ValueError:  # what begins like a URL, as a regular expression may
        return
    if uri.scheme not in ("", "lustre") or not uri.path:
        return
    if not uri.path.startswith("/") and (not home or uri.scheme):
        return
    # As Hadoop's Path does: `..` leads to the mount's root at most.
    below = posixpath.normpath(uri.path if uri.path.startswith("/") else f"{home}/{uri.path}")
    # Two stars are one to Hadoop; to glob() they are all directories below, or an error.
    below = re.sub(r"\*{2,}", "*", below.lstrip("/"))
    try:
        yield from mount.glob(below) if _WILDCARDS & set(below) else (mount / below,)
    except (OSError, ValueError, RecursionError):
        # Names longer or deeper than a file's, as a regular expression may be.
        return


def _look(path: Path) -> Iterator[tuple[int, bool] | None]:
    """The size of each file, and whether one map reads all of it; None for what is no input."""
    try:
        # As FileInputFormat does: a directory's own files, without hidden ones.
        for file in path.iterdir() if path.is_dir() else [path]:
            is_input = not file.name.startswith(("_", ".")) and file.is_file()
            yield (file.stat().st_size, file.suffix in _ONE_SPLIT) if is_input else None
    except (OSError, ValueError):
        # What cannot be looked at has no known size; Hadoop will say what is wrong with it.
        return
