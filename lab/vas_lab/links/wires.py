"""Finds who serves an OST, and the wire between a client and a server of a lab."""

from __future__ import annotations

import threading
from pathlib import Path

from vas_cluster import Cluster
from vas_lab.links.wire import FileWire
from vas_lab.lustre.lfs.client import INSTANCE


class FileWires:
    """The wires of a site; each is made when it is first asked for."""

    def __init__(self, cluster: Cluster, state_dir: Path) -> None:
        self._cluster = cluster
        self._imports = state_dir / "sys-fs-lustre/osc"
        self._by_nid = {nid: host.name for host in cluster.hosts for nid in host.nids}
        self._addresses = {host.name: host.address for host in cluster.hosts}
        self._made: dict[tuple[str, str], FileWire] = {}
        self._lock = threading.Lock()

    def server_of(self, ost: int) -> str:
        """Returns the name of the host that serves an OST now. Raises OSError, KeyError."""
        name = f"{self._cluster.lustre.fsname}-OST{ost:04x}-osc-{INSTANCE}"
        return self._by_nid[(self._imports / name / "ost_conn_uuid").read_text().strip()]

    def between(self, client: str, server: str) -> FileWire | None:
        """Returns the wire from a client's node to a server's; None if they are one node."""
        if client == server:
            return None
        with self._lock:
            if (client, server) not in self._made:
                self._made[client, server] = FileWire(client, server, self._addresses[server])
            return self._made[client, server]

    def totals(self) -> list[dict[str, str | int]]:
        """Returns what crossed each wire: its client, server, and bytes read and written."""
        with self._lock:
            wires = list(self._made.values())
        return [
            {"client": each.client, "server": each.server}
            | {"read": each.totals.read, "written": each.totals.written}
            for each in wires
        ]
