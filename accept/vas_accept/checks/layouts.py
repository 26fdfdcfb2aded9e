"""Checks layouts of every kind: the attribute against `lfs`, owners against the OSTs' counters."""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vas_accept.outcome import AcceptanceCheck, Deviation, NotApplicable
from vas_accept.place import AcceptancePlace
from vas_accept.statistics import reads_by_ost
from vas_layout.as_json import layout_json
from vas_layout.model import Layout
from vas_layout.ownership import stripe_spans
from vas_layout.store import XattrStore

MIB = 1 << 20
FILE_BYTES = 3 * MIB
_SAMPLE_BYTES = 64 << 10
_SAMPLES = (0, MIB, 2 * MIB, FILE_BYTES - _SAMPLE_BYTES)
_USAGE = 4
# `lfs` does not print these, or the attribute does not hold them: docs/layout.md.
_ONE_SIDED = {"layout_gen", "magic", "stripe_offset"}
_ODD_NAME = b"odd \xff\xc3\xa9\nname '$(x)"


@dataclass(frozen=True)
class LayoutKind:
    """A kind of layout, and the options (`words`) of `lfs setstripe` that make it."""

    name: str
    what: str
    words: Callable[[AcceptancePlace], tuple[str, ...]]
    file: bytes = b"file"

    def make(self, place: AcceptancePlace) -> Path:
        """Makes a file of the kind with 3 MiB in it, and returns its path.

        Raises NotApplicable if `lfs` does not know the kind, Deviation if it fails, OSError if the
        file cannot be written.
        """
        path = place.own(self.name) / os.fsdecode(self.file)
        words = self.words(place)
        done = place.run([place.lfs.program, "setstripe", *words, path], check=False)
        said = (done.stderr.strip().splitlines() or [f"status {done.status}"])[-1]
        if done.status == _USAGE:
            raise NotApplicable(f"this lfs does not take {' '.join(words)}: {said}")
        if done.status != 0:
            raise Deviation(f"lfs setstripe {' '.join(words)} makes the file", said)
        write(path)
        return path


def write(path: Path, size: int = FILE_BYTES) -> None:
    """Writes `size` random bytes (whole MiB) into an existing file, and syncs them. Raises
    OSError."""
    descriptor = os.open(path, os.O_WRONLY)
    try:
        for _ in range(size // MIB):
            os.write(descriptor, os.urandom(MIB))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _words(*words: str) -> Callable[[AcceptancePlace], tuple[str, ...]]:
    return lambda _place: words


def _listed(place: AcceptancePlace) -> tuple[str, ...]:
    osts = (place.osts[-1], place.osts[0]) if len(place.osts) > 1 else place.osts
    return ("-o", ",".join(map(str, osts)), "-S", "1M")


def _several(place: AcceptancePlace) -> tuple[str, ...]:
    return ("-C", str(2 * len(place.osts)), "-S", "64K")


KINDS = (
    LayoutKind("plain", "one stripe", _words("-c", "1")),
    LayoutKind("small-stripes", "64 KiB stripes on all OSTs", _words("-S", "64K", "-c", "-1")),
    LayoutKind("listed", "an exact list of OSTs", _listed),
    LayoutKind("pool", "a pool of OSTs", lambda place: ("-p", place.pool, "-S", "1M", "-c", "-1")),
    LayoutKind(
        "progressive",
        "components that begin as the file grows (PFL)",
        _words("-E", "1M", "-c", "1", "-E", "2M", "-c", "2", "-S", "1M", "-E", "-1", "-c", "-1"),
    ),
    LayoutKind("on-mdt", "data on the MDT", _words("-E", "64K", "-L", "mdt", "-E", "-1")),
    LayoutKind("overstriped", "several stripes on each OST", _several),
    LayoutKind(
        "self-extending",
        "components that grow (SEL)",
        _words("-E", "1G", "-z", "64M", "-c", "1", "-E", "-1", "-z", "256M"),
    ),
    LayoutKind("mirrored", "two mirrors, one stale after a write", _words("-N2", "-c", "1")),
    LayoutKind("odd-name", "a name that is not UTF-8", _words("-c", "-1"), file=_ODD_NAME),
)


def _compare(kind: LayoutKind, place: AcceptancePlace) -> str:
    path = kind.make(place)
    told, read = place.lfs.getstripe(path), XattrStore().read(path)
    wrong = sorted(differences(layout_json(told), layout_json(read)))
    if wrong:
        names, by_lfs, by_bytes = zip(*wrong, strict=True)
        raise Deviation(
            f"lfs: {'; '.join(map(' = '.join, zip(names, by_lfs, strict=True)))}",
            f"the attribute: {'; '.join(map(' = '.join, zip(names, by_bytes, strict=True)))}",
        )
    return f"attribute and lfs say the same: {_summary(read)}"


def differences(told: Any, read: Any, at: str = "layout") -> Iterator[tuple[str, str, str]]:
    """Yields (key, value by lfs, value by the attribute) for each key of both that differs.

    `told` and `read` are a layout as JSON, by `lfs` and by the attribute.
    """
    if isinstance(told, dict) and isinstance(read, dict):
        both = (told.keys() | read.keys()) - _ONE_SIDED
        if at == "layout" and told.get("type") == "composite":
            both -= {"flags"}
        for key in sorted(both):
            yield from differences(told.get(key), read.get(key), f"{at}.{key}")
    elif isinstance(told, list) and isinstance(read, list) and len(told) == len(read):
        for number, pair in enumerate(zip(told, read, strict=True)):
            yield from differences(*pair, f"{at}[{number}]")
    elif told != read:
        yield at.removeprefix("layout."), str(told), str(read)


def _summary(layout: Layout) -> str:
    spans = list(stripe_spans(layout, 0, FILE_BYTES))
    osts = sorted({span.ost_idx for span in spans if span.ost_idx is not None})
    without = sum(span.length for span in spans if span.ost_idx is None)
    rest = f", {without} bytes on none" if without else ""
    places = "1 span" if len(spans) == 1 else f"{len(spans)} spans"
    return f"{places} on OST {', '.join(map(str, osts))}{rest}"


def _read_on_their_osts(place: AcceptancePlace) -> str:
    reads_by_ost(place)
    read = 0
    for kind in KINDS:
        try:
            path = kind.make(place)
        except NotApplicable:
            continue
        layout = XattrStore().read(path)
        for offset in _SAMPLES:
            (span,) = list(stripe_spans(layout, offset, _SAMPLE_BYTES))[:1]
            if span.ost_idx is not None:
                _read_once(place, path, offset, span.ost_idx, kind.name)
                read += 1
    return f"{read} sampled offsets were read from the OST that the layout names, by its counter"


def _read_once(place: AcceptancePlace, path: Path, offset: int, ost: int, kind: str) -> None:
    before = reads_by_ost(place)
    _read_uncached(path, offset)
    after = reads_by_ost(place)
    moved = sorted(index for index in after if after[index] > before.get(index, 0))
    if ost not in moved:
        raise Deviation(
            f"{kind}: byte {offset} is on OST {ost}, whose counter of reads moves",
            f"the counters of OST {', '.join(map(str, moved)) or 'none'} moved",
        )


def _read_uncached(path: Path, offset: int) -> None:
    """Reads past this client's cache, which would answer without asking an OST."""
    direct = getattr(os, "O_DIRECT", 0)
    try:
        descriptor = os.open(path, os.O_RDONLY | direct)
    except OSError:
        descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.lseek(descriptor, offset, os.SEEK_SET)
        with mmap.mmap(-1, _SAMPLE_BYTES) as buffer:
            os.readv(descriptor, [buffer])
    finally:
        os.close(descriptor)


_FIX = "keep the file; send `vas layout show --json FILE`, `lfs getstripe -y FILE` and the report"
CHECKS = (
    *(
        AcceptanceCheck(
            f"layout-{kind.name}",
            f"Layout: {kind.what}",
            partial(_compare, kind),
            "VAS would send maps of such files to servers that do not hold their bytes",
            _FIX,
        )
        for kind in KINDS
    ),
    AcceptanceCheck(
        "ost-counters",
        "Offsets on the OSTs whose counters move",
        _read_on_their_osts,
        "VAS' arithmetic of stripes is not that of this Lustre",
        _FIX,
    ),
)
