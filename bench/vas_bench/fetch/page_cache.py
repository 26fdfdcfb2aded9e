"""Brings map output into the page cache, and asks the kernel how much of it is there."""

from __future__ import annotations

from pathlib import Path

from vas_core.process import run

_READ_BYTES = 8 << 20


def read_all(directory: Path) -> float:
    """Reads all map output below a directory; returns the share of it that is cached then.

    Raises NotHere without `fincore`, which util-linux has, and CommandFailed when it fails.
    """
    files = sorted(directory.rglob("file.out*"))
    for file in files:
        with file.open("rb", buffering=0) as opened:
            while opened.read(_READ_BYTES):
                pass
    told = run(["fincore", "--bytes", "--noheadings", "--output", "RES,SIZE", *files])
    return cached_share(told.stdout)


def cached_share(table: str) -> float:
    """Returns the share of cached bytes from lines of cached and all bytes. Pure."""
    numbers = [[int(word) for word in line.split()] for line in table.splitlines()]
    size = sum(whole for _, whole in numbers)
    # The last page of a file is cached as a whole.
    return sum(min(cached, whole) for cached, whole in numbers) / size if size else 1.0
