"""Computes how full each OST is, from the layouts and sizes of all files.

A file's bytes are counted by its size, holes included. `ballast` in an OST's state directory,
a number of bytes, makes it fuller: to play an unbalanced file system.
"""

from __future__ import annotations

import os
import stat
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.sizes import parse_size
from vas_layout.codec import decode
from vas_layout.errors import LayoutError
from vas_layout.model import INIT, STALE, Composite, Layout, Plain

STORED = "user.lustre.lov"
_MAX_AGE_SECONDS = 5.0
_BALLAST_AGE_SECONDS = 0.5
# No more than a twentieth of the time goes into counting.
_REST_PER_WORK = 20


def bytes_by_ost(layout: Layout, size: int) -> Counter[int]:
    """Returns OST index -> bytes that a file with this layout and `size` has there."""
    total: Counter[int] = Counter()
    if isinstance(layout, Plain):
        _add(total, layout, 0, size)
    if isinstance(layout, Composite):
        for part in layout.components:
            end = size if part.extent_end is None else min(size, part.extent_end)
            used = part.flags & INIT and not part.flags & STALE
            if used and isinstance(part.layout, Plain) and part.extent_start < end:
                _add(total, part.layout, part.extent_start, end)
    return total


def _add(total: Counter[int], layout: Plain, start: int, end: int) -> None:
    if not layout.placed:
        return
    unit, count = layout.stripe_size, len(layout.objects)

    def before(offset: int, stripe: int) -> int:
        whole, rest = divmod(offset, unit * count)
        return whole * unit + min(max(rest - stripe * unit, 0), unit)

    for stripe, item in enumerate(layout.objects):
        total[item.ost_idx] += before(end, stripe) - before(start, stripe)


@lru_cache(maxsize=8192)
def decoded(raw: bytes) -> Layout | None:
    """Returns the layout that `raw` encodes; None for other bytes."""
    try:
        return decode(raw)
    except LayoutError:
        return None


class Usage:
    """The bytes used per OST, counted in short turns so that the MDS keeps answering."""

    def __init__(self, mount: Path, state_dir: Path, osts: Sequence[int], ost_bytes: int) -> None:
        self._mount = mount
        self._directories = {ost: state_dir / "ost" / f"OST{ost:04x}" for ost in osts}
        self.ost_bytes = ost_bytes
        self.used: Counter[int] = Counter()
        self.objects: Counter[int] = Counter()
        self.files = 0
        self._scan: Iterator[None] | None = None
        self._next_scan = 0.0
        self._worked = 0.0
        self._ballast: dict[int, int] = {}
        self._next_look = 0.0
        for directory in self._directories.values():
            directory.mkdir(parents=True, exist_ok=True)

    def available(self) -> dict[int, int]:
        """Returns OST index -> bytes left at the last count; starts a new count if that is old."""
        if self._scan is None and time.monotonic() >= self._next_scan:
            self._scan = self._walk()
            self._worked = 0.0
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _BALLAST_AGE_SECONDS
            self._ballast = {ost: _ballast(at) for ost, at in self._directories.items()}
        return {ost: self.ost_bytes - self.used_on(ost) for ost in self._directories}

    def used_on(self, ost: int) -> int:
        """Returns the bytes used on one OST, ballast included, at most its capacity."""
        return min(self.used[ost] + self._ballast.get(ost, 0), self.ost_bytes)

    @property
    def is_counting(self) -> bool:
        """Returns whether a count is under way, so that `work` has something to do."""
        return self._scan is not None

    def work(self, seconds: float) -> None:
        """Goes on counting for about `seconds`, at least one file, if a count is under way."""
        if self._scan is None:
            return
        began = time.monotonic()
        while self._scan is not None:
            if next(self._scan, self) is self:
                self._scan = None
            if time.monotonic() - began >= seconds:
                break
        self._worked += time.monotonic() - began
        self._next_scan = time.monotonic() + max(_MAX_AGE_SECONDS, self._worked * _REST_PER_WORK)

    def count_now(self) -> None:
        """Counts all files at once, and returns when that is done."""
        self._next_look = 0.0
        for _ in self._walk():
            pass
        self.available()

    def _walk(self) -> Iterator[None]:
        used: Counter[int] = Counter()
        objects: Counter[int] = Counter()
        files = 0
        for directory, _, names in os.walk(self._mount):
            yield
            files += 1
            for name in names:
                yield
                files += 1
                layout, size = _layout_and_size(os.path.join(directory, name))  # noqa: PTH118
                if layout is not None:
                    share = bytes_by_ost(layout, size)
                    used += share
                    objects.update(share.keys())
        self.used, self.objects, self.files = used, objects, files
        for ost, own in self._directories.items():
            # For the eye only: not worth the fsync that would hold up every create.
            (own / "used_bytes").write_text(f"{used[ost]}\n")


def _ballast(directory: Path) -> int:
    try:
        return parse_size((directory / "ballast").read_text())
    except (FileNotFoundError, BadInput):
        return 0


def _layout_and_size(path: str) -> tuple[Layout | None, int]:
    try:
        info = os.lstat(path)
        if not stat.S_ISREG(info.st_mode):
            return None, 0
        return decoded(os.getxattr(path, STORED, follow_symlinks=False)), info.st_size
    except OSError:
        return None, 0
