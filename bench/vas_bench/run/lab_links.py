"""Counts what crossed a lab's links during a run."""

from __future__ import annotations

from collections.abc import Iterable

from vas_cluster import Cluster
from vas_lab.links.totals import LinkTotals


def link_counters(totals: Iterable[LinkTotals], cluster: Cluster) -> dict[str, int]:
    """Returns the bytes of files that clients read and wrote by links of a lab.

    Those of OSTs that the client's own host serves stand apart from all others.
    """
    total = dict.fromkeys(("link_bytes/own host", "link_bytes/other hosts"), 0)
    for each in totals:
        host = cluster.host_by_guest(each.client)
        own = host is not None and host.name == each.server
        total[f"link_bytes/{'own host' if own else 'other hosts'}"] += each.read + each.written
    return total
