"""The subjects of `vas bench fetch`: who serves and fetches, for how many clients. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import get_args

from vas_bench.results.measures import FETCH
from vas_bench.results.record import Parameter
from vas_bench.results.systems import Fetching
from vas_core.shown import counted
from vas_core.sizes import format_size

STOCK: Fetching = "stock fetch"
STOCK_TLS: Fetching = "stock fetch, TLS"
DAEMON: Fetching = "vas-shuffled"
DAEMON_TLS: Fetching = "vas-shuffled, TLS"
DAEMON_MERGED: Fetching = "vas-shuffled, merged"
STOCK_OF: Mapping[Fetching, Fetching] = {
    DAEMON: STOCK,
    DAEMON_TLS: STOCK_TLS,
    DAEMON_MERGED: STOCK,
}
"""An arm with the daemon -> stock's that it is held against."""
WITH_TLS = frozenset({STOCK_TLS, DAEMON_TLS})
ARMS: tuple[Fetching, ...] = get_args(Fetching)
# With these the reducer's JVM chooses how much it reads at once; else stock or the daemon does.
_READING = frozenset({DAEMON, DAEMON_TLS})
# Seconds on two quiet cores: JVMs that start, and each GiB that is fetched three times.
_START_SECONDS = 12.0
_SECONDS_PER_GIB = {
    STOCK: 60.0,
    STOCK_TLS: 90.0,
    DAEMON: 45.0,
    DAEMON_TLS: 60.0,
    DAEMON_MERGED: 45.0,
}


@dataclass(frozen=True)
class FetchSubject:
    """A system that fetches `size_bytes` from one server with a number of clients.

    `read_bytes` is `vas.shuffle.read-size`, None for the key's default.
    """

    system: Fetching
    clients: int
    size_bytes: int
    maps: int
    heap_mib: int
    read_bytes: int | None = None
    workload: str = FETCH
    site: object = None

    @property
    def title(self) -> str:
        """The system, its reads and its clients, as progress names them."""
        reads = f", reads of {format_size(self.read_bytes)}" if self.read_bytes else ""
        return f"{self.system}{reads}, {counted(self.clients, 'client')}"

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The numbers that all systems have in common, and the size of reads that was chosen."""
        sizes = {"size_bytes": self.size_bytes, "maps": self.maps, "heap_mib": self.heap_mib}
        reads = {"read_bytes": self.read_bytes} if self.read_bytes else {}
        return {"clients": self.clients, **sizes, **reads}

    @property
    def seconds(self) -> float:
        """The seconds that a run is expected to take."""
        each = _SECONDS_PER_GIB[self.system] * self.size_bytes / (1 << 30)
        return _START_SECONDS + 2 * self.clients + each


def subjects(
    arms: Iterable[Fetching],
    clients: Iterable[int],
    reads: Sequence[int] = (),
    *,
    size_bytes: int,
    maps: int,
    heap_mib: int,
) -> list[FetchSubject]:
    """Returns each arm with each number of clients, and each size of reads where it has one."""
    return [
        FetchSubject(arm, number, size_bytes, maps, heap_mib, read)
        for number in clients
        for arm in arms
        for read in (reads if reads and arm in _READING else (None,))
    ]
