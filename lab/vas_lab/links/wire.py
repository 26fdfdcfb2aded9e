"""Carries bytes of files between a client's node and a server's, over the lab's network."""

from __future__ import annotations

import errno
import os
import queue
import select
import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field

from vas_lab.links.networks import in_network

_MOST_AT_ONCE, _MOST_MERGED = 1 << 20, 4 << 20


@dataclass
class Crossing:
    """Bytes of a file to carry. `descriptor` is closed, and `then` called, when they are across.

    `error` is an errno if they are not.
    """

    descriptor: int
    start: int
    length: int
    to_client: bool
    then: Callable[[Crossing], None]
    error: int = 0
    _has_begun: bool = False
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def grow(self, start: int, length: int) -> bool:
        """Takes bytes that follow, up to 4 MiB in all; False if they must go by themselves."""
        with self._lock:
            follows = start == self.start + self.length
            if self._has_begun or not follows or self.length + length > _MOST_MERGED:
                return False
            self.length += length
            return True

    def begin(self) -> None:
        """Lets the crossing grow no more, as its bytes are sent now."""
        with self._lock:
            self._has_begun = True


@dataclass
class WireTotals:
    """Bytes that crossed a wire: those that its client read, and those that it wrote."""

    read: int = 0
    written: int = 0


@dataclass
class FileWire:
    """A TCP connection from a client's node to a server's, which carries one crossing at a time.

    Both ends are in this process: what one end sends from the file, the other takes and drops, as
    the client then reads the same bytes from this machine's memory.
    """

    client: str
    server: str
    address: str
    totals: WireTotals = field(default_factory=WireTotals)
    _waiting: queue.SimpleQueue[Crossing] = field(default_factory=queue.SimpleQueue)
    _ends: tuple[socket.socket, socket.socket] | None = None

    def __post_init__(self) -> None:
        threading.Thread(
            target=self._work, name=f"{self.client}-{self.server}", daemon=True
        ).start()

    def carry(self, crossing: Crossing) -> None:
        """Takes a crossing, and returns before it is across."""
        self._waiting.put(crossing)

    def _work(self) -> None:
        while True:
            crossing = self._waiting.get()
            crossing.begin()
            try:
                self._carry(crossing)
            except OSError as broken:
                crossing.error = broken.errno or errno.EIO
                self._hang_up()
            finally:
                os.close(crossing.descriptor)
                crossing.then(crossing)

    def _carry(self, crossing: Crossing) -> None:
        client, server = self._ends or self._connect()
        sender, receiver = (server, client) if crossing.to_client else (client, server)
        carried = _pump(crossing, sender, receiver)
        if crossing.to_client:
            self.totals.read += carried
        else:
            self.totals.written += carried

    def _connect(self) -> tuple[socket.socket, socket.socket]:
        family = socket.AF_INET6 if ":" in self.address else socket.AF_INET
        with in_network(self.server, lambda: _listen(family, self.address)) as listener:
            place = listener.getsockname()[:2]
            client = in_network(self.client, lambda: socket.create_connection(place, 10.0))
            server, _ = listener.accept()
        self._ends = client, server
        for end in self._ends:
            end.setblocking(False)
        return self._ends

    def _hang_up(self) -> None:
        for end in self._ends or ():
            end.close()
        self._ends = None


def _listen(family: socket.AddressFamily, address: str) -> socket.socket:
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind((address, 0))
    listener.listen(1)
    listener.settimeout(10.0)
    return listener


def _pump(crossing: Crossing, sender: socket.socket, receiver: socket.socket) -> int:
    """Sends the bytes and takes them; returns how many. A file that was cut has fewer of them."""
    at, end, taken = crossing.start, crossing.start + crossing.length, 0
    while at < end or taken < at - crossing.start:
        ready = _ready(receiver, sender if at < end else None)
        if sender.fileno() in ready:
            with suppress(BlockingIOError):
                part = min(end - at, _MOST_AT_ONCE)
                sent = os.sendfile(sender.fileno(), crossing.descriptor, at, part)
                at, end = (at + sent, end) if sent else (at, at)
        if receiver.fileno() in ready:
            with suppress(BlockingIOError):
                got = len(receiver.recv(_MOST_AT_ONCE, socket.MSG_TRUNC))
                if not got:
                    raise ConnectionResetError(errno.ECONNRESET, "the other end is closed")
                taken += got
    return taken


def _ready(receiver: socket.socket, sender: socket.socket | None) -> set[int]:
    """Waits until one of the ends can go on; returns the descriptors of those that can."""
    poll = select.poll()
    poll.register(receiver, select.POLLIN)
    if sender:
        poll.register(sender, select.POLLOUT)
    return {descriptor for descriptor, _ in poll.poll()}
