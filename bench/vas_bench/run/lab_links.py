"""Counts what crosses a lab's links during a run, and how that grows."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from vas_bench.results.record import CurvePoints
from vas_cluster import Cluster
from vas_lab.links.totals import LinkTotals, parse_totals

PERIOD_SECONDS = 1.0
_END_SECONDS = 10.0
_PEAK = "link_bytes_per_second/peak"


def link_counters(totals: LinkTotals, cluster: Cluster) -> dict[str, float]:
    """Returns the bytes of files that clients read and wrote by links of a lab, and the waits.

    Bytes of OSTs that the client's own host serves stand apart from all others.
    """
    total: dict[str, float] = dict.fromkeys(("link_bytes/own host", "link_bytes/other hosts"), 0)
    for each in totals.wires:
        host = cluster.host_by_guest(each.client)
        own = host is not None and host.name == each.server
        total[f"link_bytes/{'own host' if own else 'other hosts'}"] += each.read + each.written
    waits = {f"link_wait_seconds/{each.what}": each.seconds for each in totals.waits}
    return total | waits | {"link_requests": sum(each.requests for each in totals.waits)}


class LinkCurves:
    """Asks the links of a lab once a second, from now until `stop`.

    `argv` is the program that prints the totals, a line each time; `beside` returns counters of
    the machine that are looked at then too. `kept` are the names of the counters that are kept.
    """

    def __init__(
        self,
        argv: Sequence[str],
        cluster: Cluster,
        beside: Callable[[], Mapping[str, float]],
        kept: Sequence[str],
    ) -> None:
        self._cluster, self._beside, self._kept = cluster, beside, kept
        self._looks: list[tuple[float, Mapping[str, float]]] = []
        self._program = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._program.stdout is not None
        for line in self._program.stdout:
            counted = link_counters(parse_totals(line), self._cluster) | dict(self._beside())
            self._looks.append((time.monotonic(), counted))

    def stop(self) -> dict[str, CurvePoints]:
        """Ends the program, and returns name -> (seconds since the first look, growth since)."""
        assert self._program.stdin is not None
        self._program.stdin.close()
        self._program.wait(_END_SECONDS)
        self._reader.join(_END_SECONDS)
        return curves_of(self._looks, self._kept)


def curves_of(
    looks: Sequence[tuple[float, Mapping[str, float]]], kept: Sequence[str]
) -> dict[str, CurvePoints]:
    """Returns how counters grew since the first of the looks; none where there was no growth."""
    if len(looks) < 2:
        return {}
    began, first = looks[0]
    # The program's last look may follow the one before at once.
    by_time = {round(at - began, 2): look for at, look in looks}
    found: dict[str, CurvePoints] = {
        name: [(at, look.get(name, 0) - first.get(name, 0)) for at, look in by_time.items()]
        for name in kept
    }
    return {name: points for name, points in found.items() if points[-1][1]}


def peak_of(curves: Mapping[str, CurvePoints]) -> dict[str, float]:
    """Returns the most bytes a second that crossed all links between two looks, as a measure."""
    by_link = [points for name, points in curves.items() if name.startswith("link_bytes/")]
    if not by_link:
        return {}
    together = zip(*by_link, strict=True)
    summed = [(points[0][0], sum(so_far for _, so_far in points)) for points in together]
    rates = [(b - a) / (then - now) for (now, a), (then, b) in pairwise(summed)]
    return {_PEAK: max(rates)}
