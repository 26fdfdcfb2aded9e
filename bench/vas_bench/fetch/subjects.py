"""The subjects of `vas bench fetch`: who serves and fetches, for how many clients. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import get_args

from vas_bench.results.measures import FETCH
from vas_bench.results.record import Parameter
from vas_bench.results.systems import Fetching
from vas_core.shown import counted

STOCK: Fetching = "stock fetch"
STOCK_TLS: Fetching = "stock fetch, TLS"
DAEMON: Fetching = "vas-shuffled"
DAEMON_MERGED: Fetching = "vas-shuffled, merged"
WITH_DAEMON = frozenset({DAEMON, DAEMON_MERGED})
ARMS: tuple[Fetching, ...] = get_args(Fetching)
# Seconds on two quiet cores: JVMs that start, and each GiB that is fetched three times.
_START_SECONDS = 12.0
_SECONDS_PER_GIB = {STOCK: 60.0, STOCK_TLS: 90.0, DAEMON: 45.0, DAEMON_MERGED: 45.0}


@dataclass(frozen=True)
class FetchSubject:
    """A system that fetches `size_bytes` from one server with a number of clients."""

    system: Fetching
    clients: int
    size_bytes: int
    maps: int
    heap_mib: int
    workload: str = FETCH
    site: object = None

    @property
    def title(self) -> str:
        """The system and its clients, as progress names them."""
        return f"{self.system}, {counted(self.clients, 'client')}"

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The numbers that all systems have in common."""
        sizes = {"size_bytes": self.size_bytes, "maps": self.maps, "heap_mib": self.heap_mib}
        return {"clients": self.clients, **sizes}

    @property
    def seconds(self) -> float:
        """The seconds that a run is expected to take."""
        each = _SECONDS_PER_GIB[self.system] * self.size_bytes / (1 << 30)
        return _START_SECONDS + 2 * self.clients + each


def subjects(
    arms: Iterable[Fetching], clients: Iterable[int], *, size_bytes: int, maps: int, heap_mib: int
) -> list[FetchSubject]:
    """Returns each arm with each number of clients."""
    return [
        FetchSubject(arm, number, size_bytes, maps, heap_mib) for number in clients for arm in arms
    ]
