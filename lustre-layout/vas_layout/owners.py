"""Finds which host serves an OST now, as this client sees it, without root.

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
from functools import cache

from vas_cluster import Cluster, Host
from vas_core.root import Root

_LOOPBACK_NID = "0@lo"
# A file with 10,000 stripes on an unknown OST must not read sysfs 10,000 times.
_MISS_SECONDS = 1.0
_MDT_INSTANCE = re.compile(r"MDT[0-9a-f]{4}")
_LOCAL_ADDRESS = re.compile(r"\|-- (\S+)\n\s+/32 host LOCAL")


class Source(Enum):
    """Source of an owner: the Lustre client, the map, or neither."""

    CLIENT = "client"
    MAP = "map"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Owner:
    """The host that serves an OST, None if unknown, and the source of this answer."""

    host: Host | None
    source: Source


class OstOwners:
    """Maps an OST index to the host that serves it now; caches answers for `ttl_seconds`.

    An OST that is not in the cache makes it read again, at most once a second. `instance` returns
    the client instance of the mount (`lfs getname -i`), or None; it is called only if several
    instances disagree.
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
        self._hosts: dict[int, Host] = {}

    def owner(self, ost_idx: int) -> Owner:
        """Returns the host that serves an OST: by the client, else by the map."""
        host = self._by_client(ost_idx)
        if host:
            return Owner(host, Source.CLIENT)
        host = self._cluster.host_by_ost(ost_idx)
        return Owner(host, Source.MAP if host else Source.UNKNOWN)

    def refresh(self) -> None:
        """Reads the present hosts of all OSTs from the client."""
        self._hosts = self._of_one_instance(self._read())
        self._read_at = self._clock()

    def _by_client(self, ost_idx: int) -> Host | None:
        age = None if self._read_at is None else self._clock() - self._read_at
        missed = ost_idx not in self._hosts
        if age is None or age >= self._ttl_seconds or (missed and age >= _MISS_SECONDS):
            self.refresh()
        return self._hosts.get(ost_idx)

    def _read(self) -> dict[int, dict[str, Host]]:
        """The host of each OST by instance, those the map knows."""
        found: dict[int, dict[str, Host]] = {}
        fsname = self._cluster.lustre.fsname
        name = re.compile(rf"{fsname}-OST([0-9a-f]{{4}})-osc-(\w+)")
        here = cache(self._this_host)
        for directory in self._root.glob(f"sys/fs/lustre/osc/{fsname}-OST*-osc-*"):
            match = name.fullmatch(directory.name)
            if not match or _MDT_INSTANCE.fullmatch(match[2]):
                continue
            nid = self._nid(directory.name)
            host = here() if nid == _LOOPBACK_NID else self._cluster.host_by_nid(nid)
            if host:
                found.setdefault(int(match[1], 16), {})[match[2]] = host
        return found

    def _nid(self, import_name: str) -> str:
        try:
            return self._root.read(f"sys/fs/lustre/osc/{import_name}/ost_conn_uuid") or ""
        except OSError:
            # The files of a mount that is removed vanish, with ENODEV while they are open.
            return ""

    def _of_one_instance(self, found: dict[int, dict[str, Host]]) -> dict[int, Host]:
        """One host per OST; none where instances disagree and the mount's own is not known."""
        names = {index: {host.name for host in hosts.values()} for index, hosts in found.items()}
        own = self._instance() if any(len(hosts) > 1 for hosts in names.values()) else None
        if own:
            return {index: hosts[own] for index, hosts in found.items() if own in hosts}
        agreed = (index for index, hosts in names.items() if len(hosts) == 1)
        return {index: next(iter(found[index].values())) for index in agreed}

    def _this_host(self) -> Host | None:
        addresses = _LOCAL_ADDRESS.findall(self._root.read("proc/net/fib_trie") or "")
        local = set(addresses)
        for host in self._cluster.hosts:
            if host.address in local or any(nid.partition("@")[0] in local for nid in host.nids):
                return host
        name = self._root.read("proc/sys/kernel/hostname") or ""
        return self._cluster.host(name) or self._cluster.host(name.partition(".")[0])
