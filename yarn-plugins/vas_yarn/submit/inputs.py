"""What a job reads, as far as its arguments show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

from vas_yarn.submit.rule import Input

# Each is a question to the metadata server.
_MOST_FILES = 10_000
_ONE_SPLIT = {".gz", ".deflate", ".lz4", ".snappy", ".zst"}


def find_input(words: Sequence[str], mount: Path, block_bytes: int) -> Input | None:
    """The size of all that arguments name and that is there: a job's output never is.

    `mount` is where Lustre is on this machine. None where nothing is found, or more than 10,000
    files.
    """
    files = chain.from_iterable(_files(path, mount) for word in words for path in word.split(","))
    count = total = largest = 0
    for count, (size, is_one_split) in enumerate(files, start=1):
        if count > _MOST_FILES:
            return None
        total += size
        largest = max(largest, size if is_one_split else min(size, block_bytes))
    return Input(total, largest) if count else None


def _files(word: str, mount: Path) -> Iterator[tuple[int, bool]]:
    """The size of each file, and whether one map reads all of it."""
    uri = urlsplit(word)
    if uri.scheme not in ("", "lustre") or not uri.path.startswith("/"):
        return
    path = mount / uri.path.lstrip("/")
    try:
        # As FileInputFormat does: a directory's own files, without hidden ones.
        for file in path.iterdir() if path.is_dir() else [path]:
            if file.is_file() and not file.name.startswith(("_", ".")):
                yield file.stat().st_size, file.suffix in _ONE_SPLIT
    except OSError:
        # What cannot be looked at has no known size; Hadoop will say what is wrong with it.
        return
