"""Which host serves an OST now, as this client sees it, as an ordinary user.

`/sys/fs/lustre/osc/<fs>-OST<index, 4 hex digits>-osc-<instance>/ost_conn_uuid` (0444) holds
the NID of the server an OST is reached at. It follows a failover to the HA partner, so it comes
before the map's own list. Lustre's traps (docs/layout.md): `0@lo` is this host itself; an idle
import may name the old server for some 25 s; a client that was unmounted or mounted twice has
several instances; the MDT's own imports stand in the same directory.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from vas_cluster import Cluster, Host
from vas_core.root import Root

_LOOPBACK_NID = "0@lo"
# A file with 10,000 stripes on an OST nobody knows must not read sysfs 10,000 times.
_MISS_SECONDS = 1.0
_MDT_INSTANCE = re.compile(r"MDT[0-9a-f]{4}")
_LOCAL_ADDRESS = re.compile(r"\|-- (\S+)\n\s+/32 host LOCAL")


class Source(Enum):
    """How an owner was found."""

    CLIENT = "client"
    MAP = "map"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Owner:
    """The host that serves an OST, or None."""

    host: Host | None
    source: Source


class OstOwners:
    """OST index to host, remembered for `ttl_seconds` and read again at a miss.

    `instance` names the client instance of the mount (`lfs getname -i`); it is asked only when
    several instances disagree, and may give None.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        root: Root | None = None,
        instance: Callable[[], str | None] = lambda: None,
        ttl_seconds: float = 5.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._cluster = cluster
        self._root = root or Root()
        self._instance = instance
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._read_at: float | None = None
        self._hosts: dict[int, Host | None] = {}

    def owner(self, ost_idx: int) -> Owner:
        """The host that serves an OST; the map's own answer when the client knows none."""
        host = self._by_client(ost_idx)
        if host:
            return Owner(host, Source.CLIENT)
        host = self._cluster.host_by_ost(ost_idx)
        return Owner(host, Source.MAP if host else Source.UNKNOWN)

    def refresh(self) -> None:
        """Reads what the client says now."""
        nids = self._read()
        here = self._this_host() if _LOOPBACK_NID in nids.values() else None
        self._hosts = {
            index: here if nid == _LOOPBACK_NID else self._cluster.host_by_nid(nid)
            for index, nid in nids.items()
        }
        self._read_at = self._clock()

    def _by_client(self, ost_idx: int) -> Host | None:
        age = None if self._read_at is None else self._clock() - self._read_at
        missed = ost_idx not in self._hosts
        if age is None or age >= self._ttl_seconds or (missed and age >= _MISS_SECONDS):
            self.refresh()
        return self._hosts.get(ost_idx)

    def _read(self) -> dict[int, str]:
        found: dict[int, dict[str, str]] = {}
        fsname = self._cluster.lustre.fsname
        name = re.compile(rf"{fsname}-OST([0-9a-f]{{4}})-osc-(\w+)")
        for directory in self._root.glob(f"sys/fs/lustre/osc/{fsname}-OST*-osc-*"):
            match = name.fullmatch(directory.name)
            if not match or _MDT_INSTANCE.fullmatch(match[2]):
                continue
            nid = self._root.read(f"sys/fs/lustre/osc/{directory.name}/ost_conn_uuid")
            if nid and "@" in nid:
                found.setdefault(int(match[1], 16), {})[match[2]] = nid
        return self._of_one_instance(found)

    def _of_one_instance(self, found: dict[int, dict[str, str]]) -> dict[int, str]:
        """One NID per OST; none where instances disagree and the mount's own is not known."""
        disagree = any(len(set(nids.values())) > 1 for nids in found.values())
        own = self._instance() if disagree else None
        if own:
            return {index: nids[own] for index, nids in found.items() if own in nids}
        agreed = {index: set(nids.values()) for index, nids in found.items()}
        return {index: nids.pop() for index, nids in agreed.items() if len(nids) == 1}

    def _this_host(self) -> Host | None:
        addresses = _LOCAL_ADDRESS.findall(self._root.read("proc/net/fib_trie") or "")
        local = set(addresses)
        for host in self._cluster.hosts:
            if host.address in local or any(nid.partition("@")[0] in local for nid in host.nids):
                return host
        name = self._root.read("proc/sys/kernel/hostname") or ""
        return self._cluster.host(name) or self._cluster.host(name.partition(".")[0])
