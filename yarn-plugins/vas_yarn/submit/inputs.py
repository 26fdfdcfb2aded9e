"""What a job reads, as far as its arguments show it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from vas_yarn.submit.rule import Input


def find_input(words: Sequence[str], mount: Path, block_bytes: int) -> Input | None:
    """The size of all that arguments name and that is there: a job's output never is.

    `mount` is where Lustre is on this machine. None where nothing is found.
    """
    sizes = [size for word in words for path in word.split(",") for size in _sizes(path, mount)]
    if not sizes:
        return None
    return Input(sum(sizes), min(max(sizes), block_bytes))


def _sizes(word: str, mount: Path) -> Iterator[int]:
    uri = urlsplit(word)
    if uri.scheme not in ("", "lustre") or not uri.path.startswith("/"):
        return
    path = mount / uri.path.lstrip("/")
    try:
        # As FileInputFormat does: a directory's own files, without hidden ones.
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            if file.is_file() and not file.name.startswith(("_", ".")):
                yield file.stat().st_size
    except OSError:
        # What cannot be looked at has no known size; Hadoop will say what is wrong with it.
        return
