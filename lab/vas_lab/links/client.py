"""Plays the Lustre clients of a lab's nodes: who has which bytes, and which must cross a link."""

from __future__ import annotations

import errno
import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from vas_lab.links.cache import CHUNK, NodeCache, chunks_of
from vas_lab.links.request import Kind, LinkAnswer, LinkRequest
from vas_lab.links.wire import Crossing, FileWire
from vas_lab.lustre.mds.client import call
from vas_layout.codec import decode
from vas_layout.model import Composite, Layout
from vas_layout.ownership import stripe_spans, unowned_reason

_LAYOUT, _FID = "user.lustre.lov", "user.lustre.fid"
_AHEAD = 8  # chunks that are fetched before a reader in order asks for them
_MOST_QUEUED = 64  # writes that do not follow one another
_MOST_DIRTY = 32 << 20  # osc.*.max_dirty_mb, for all OSTs of a server together


@dataclass(frozen=True)
class OpenedFile:
    """A file as a request sees it: a descriptor to read it by, and what is known of it.

    `layout` is None for a file without objects.
    """

    descriptor: int
    fid: bytes
    layout: Layout | None
    size: int

    @classmethod
    @contextmanager
    def of(cls, descriptor: int, mds: Path) -> Iterator[OpenedFile]:
        """Yields the file behind a descriptor, which may be one for writing only.

        A part of it that has grown into a component without objects gets some: `mds` is the socket
        of the MDS. Raises OSError if the file cannot be read, LayoutError if its layout is damaged.
        """
        readable = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            size, layout = os.fstat(readable).st_size, _layout(descriptor)
            if isinstance(layout, Composite) and unowned_reason(layout, 0, size):
                call(mds, "refresh", descriptor=descriptor)
                layout = _layout(descriptor)
            yield cls(readable, _attribute(descriptor, _FID), layout, size)
        finally:
            os.close(readable)


def _layout(descriptor: int) -> Layout | None:
    raw = _attribute(descriptor, _LAYOUT)
    return decode(raw) if raw else None


def _attribute(descriptor: int, name: str) -> bytes:
    try:
        return os.getxattr(descriptor, name)
    except OSError as missing:
        if missing.errno == errno.ENODATA:
            return b""
        raise


@dataclass
class LustreClients:
    """The Lustre clients of all nodes.

    `mds` is the socket of the MDS. `servers` is OST -> the name of the host that serves it.
    `wire_of` is client, server -> their wire, or None where they are one node. `on_forgotten` is
    called when a node loses bytes that it had. A node that reads what another has written, and not
    yet sent, waits until it is sent: as it waits for a lock on a real Lustre.
    """

    mds: Path
    servers: Callable[[int], str]
    wire_of: Callable[[str, str], FileWire | None]
    cache_bytes: int
    on_forgotten: Callable[[], None] = lambda: None
    _caches: dict[str, NodeCache] = field(default_factory=dict)
    _coming: dict[tuple[str, bytes, int], int] = field(default_factory=dict)
    _dirty: Counter[tuple[str, str]] = field(default_factory=Counter)
    _queued: Counter[tuple[str, str]] = field(default_factory=Counter)
    _unsent: Counter[tuple[bytes, str]] = field(default_factory=Counter)
    _last_write: dict[tuple[str, str], tuple[bytes, Crossing]] = field(default_factory=dict)
    _lost: set[bytes] = field(default_factory=set)
    _failed: set[tuple[str, bytes, int]] = field(default_factory=set)
    _last_read: dict[tuple[str, bytes], int] = field(default_factory=dict)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def serve(self, node: str, request: LinkRequest, descriptor: int) -> LinkAnswer:
        """Returns when the node's client would return; raises OSError if bytes did not cross."""
        with OpenedFile.of(descriptor, self.mds) as file:
            if request.kind is Kind.SYNC:
                return self._sync(file)
            if request.kind is Kind.WRITE:
                return self._write(node, file, request)
            return self._read(node, file, request)

    def drop(self) -> None:
        """Empties the caches of all nodes, as `echo 3 > /proc/sys/vm/drop_caches` on each."""
        with self._changed:
            for cache in self._caches.values():
                cache.clear()

    # ---- reading ----

    def _read(self, node: str, file: OpenedFile, request: LinkRequest) -> LinkAnswer:
        end = min(request.start + request.length, file.size)
        first, last = request.start // CHUNK, max(end - 1, request.start) // CHUNK
        with self._changed:
            self._changed.wait_for(lambda: not self._is_unsent(file.fid, but=node))
            before = self._last_read.get((node, file.fid), -1)
            self._last_read[node, file.fid] = last
        ahead = _AHEAD if first in (before, before + 1) else 0
        for chunk in range(first, last + 1 + ahead):
            self._fetch(node, file, chunk)
        return self._when_here(node, file, request.start, end)

    def _when_here(self, node: str, file: OpenedFile, start: int, end: int) -> LinkAnswer:
        keys = {(node, file.fid, chunk) for chunk, _, _ in chunks_of(start, end)}
        with self._changed:
            self._changed.wait_for(lambda: not any(self._coming.get(key) for key in keys))
            if failed := keys & self._failed:
                self._failed -= failed
                raise OSError(errno.EIO, "bytes did not come")
            return LinkAnswer(start=start, end=self._cache(node).end_from(file.fid, start, end))

    def _fetch(self, node: str, file: OpenedFile, chunk: int) -> None:
        """Has what is missing of a chunk come, unless it is on its way."""
        end, key = min((chunk + 1) * CHUNK, file.size), (node, file.fid, chunk)
        with self._changed:
            start = self._cache(node).end_of(file.fid, chunk)
            if start >= end or self._coming.get(key):
                return
            spans = list(self._far(node, file, start, end))
            self._coming[key] = len(spans)
            if not spans:
                self._cache(node).add(file.fid, start, end)

        def came(transfer: Crossing) -> None:
            with self._changed:
                self._coming[key] -= 1
                if not self._coming[key]:
                    del self._coming[key]
                    self._cache(node).add(file.fid, start, end)
                if transfer.error:
                    self._failed.add(key)
                self._changed.notify_all()

        for wire, at, length in spans:
            wire.carry(Crossing(os.dup(file.descriptor), at, length, True, came))

    # ---- writing ----

    def _write(self, node: str, file: OpenedFile, request: LinkRequest) -> LinkAnswer:
        start, end = request.start, request.start + request.length
        with self._changed:
            others = [cache for other, cache in self._caches.items() if other != node]
            if sum(cache.forget(file.fid, start, end) for cache in others):
                self.on_forgotten()
            self._cache(node).add(file.fid, start, end)
        for wire, at, length in self._far(node, file, start, end):
            self._send(wire, file, at, length)
        return LinkAnswer()

    def _send(self, wire: FileWire, file: OpenedFile, at: int, length: int) -> None:
        ends, which = (wire.client, wire.server), (file.fid, wire.client)

        def sent(crossing: Crossing) -> None:
            with self._changed:
                self._dirty[ends] -= crossing.length
                self._queued[ends] -= 1
                self._unsent[which] -= 1
                if not self._unsent[which]:
                    del self._unsent[which]
                if crossing.error:
                    self._lost.add(file.fid)
                self._changed.notify_all()

        with self._changed:
            self._changed.wait_for(lambda: self._has_room(ends))
            self._dirty[ends] += length
            fid, last = self._last_write.get(ends, (b"", None))
            if last and fid == file.fid and last.grow(at, length):
                return
            self._queued[ends] += 1
            self._unsent[which] += 1
            crossing = Crossing(os.dup(file.descriptor), at, length, False, sent)
            self._last_write[ends] = file.fid, crossing
        wire.carry(crossing)

    def _has_room(self, ends: tuple[str, str]) -> bool:
        return self._dirty[ends] < _MOST_DIRTY and self._queued[ends] < _MOST_QUEUED

    def _sync(self, file: OpenedFile) -> LinkAnswer:
        with self._changed:
            self._changed.wait_for(lambda: not self._is_unsent(file.fid))
            if file.fid in self._lost:
                self._lost.remove(file.fid)
                raise OSError(errno.EIO, "bytes did not get there")
        return LinkAnswer()

    def _is_unsent(self, file: bytes, but: str = "") -> bool:
        return any(fid == file and node != but for fid, node in self._unsent)

    # ----

    def _far(
        self, node: str, file: OpenedFile, start: int, end: int
    ) -> Iterator[tuple[FileWire, int, int]]:
        """Yields the wire, start and length of each part that is not on the node itself."""
        for span in stripe_spans(file.layout, start, end - start) if file.layout else ():
            server = None if span.ost_idx is None else self.servers(span.ost_idx)
            wire = self.wire_of(node, server) if server else None
            if wire:
                yield wire, span.offset, span.length

    def _cache(self, node: str) -> NodeCache:
        return self._caches.setdefault(node, NodeCache(self.cache_bytes))
