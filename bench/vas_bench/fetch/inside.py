"""Plays one round in a network of its own: reads a FetchRequest, prints a FetchAnswer.

Started by `play`, below `unshare`. All nodes are addresses of the loopback interface.
"""

from __future__ import annotations

import sys
import time
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from vas_bench.fetch.page_cache import read_all
from vas_bench.fetch.processes import (
    FetchProcess,
    PeakMemory,
    accepted_connections,
    cpu_seconds,
    ending,
    number_of,
    pss_bytes,
)
from vas_bench.fetch.programs import Programs
from vas_bench.fetch.request import FetchAnswer, FetchCounts, FetchRequest
from vas_bench.fetch.subjects import DAEMON_MERGED
from vas_bench.fetch.sums import ClientSum, parse_sum, wrong_sums
from vas_core.errors import VasError
from vas_core.process import run
from vas_core.root import Root

_COUNTED = ("looks_total", "reads_total")
_MERGED = ("merged_bytes_total",)
# Of each client: one before anything is counted, and two that are.
_FETCHES = 3


@dataclass
class Stage:
    """The running parts of a round: one server, clients, and a daemon for each client."""

    request: FetchRequest
    root: Root
    server: FetchProcess
    daemons: Sequence[FetchProcess] = ()
    clients: Sequence[FetchProcess] = field(default_factory=list)
    programs: Programs = field(init=False)

    def __post_init__(self) -> None:
        self.programs = Programs(self.request)

    def fetch(self) -> list[ClientSum]:
        """Has all clients fetch once, at the same time. Raises VasError when one fails."""
        for client in self.clients:
            client.say("fetch")
        return [parse_sum(client.hear("{")) for client in self.clients]

    def counted(self) -> tuple[FetchCounts, list[ClientSum]]:
        """Has all clients fetch once; returns the counts, and the sum of what each client read.

        Raises VasError when a client fails.
        """
        groups = {"client": [*self.clients, *self.daemons], "server": [self.server]}
        # The kernel may have reclaimed some of it, as DAMON does of what lay idle for a while.
        cached = read_all(Path(self.request.served))
        idle = pss_bytes(self.root, groups["server"])
        before = self._snapshot()
        memory = PeakMemory(self.root, groups)
        started = time.monotonic()
        sums = self.fetch()
        wall = time.monotonic() - started
        after = self._snapshot()
        peaks = memory.stop()
        used = {name: after[name] - before[name] for name in before}
        accepted = int(used["connections"])
        is_daemon = self.programs.is_daemon
        return FetchCounts(
            wall_seconds=round(wall, 3),
            client_cpu=round(used["client"], 2),
            client_daemon_cpu=round(used["daemon"], 2),
            server_cpu=round(used["server"], 2),
            client_pss=peaks["client"],
            server_pss=peaks["server"],
            server_idle_pss=idle,
            server_threads=number_of(self.root, [self.server], "status", "Threads"),
            client_threads=number_of(self.root, groups["client"], "status", "Threads"),
            requests=int(used["requests"]) if is_daemon else accepted,
            connections=told(self.programs.metrics_url, ("peers_in",)) if is_daemon else accepted,
            spilled_records=sum(each.spilled for each in sums),
            server_disk_bytes=int(used["disk"]),
            cached_share=cached,
        ), sums

    def _snapshot(self) -> dict[str, float]:
        return {
            "requests": self._requests(),
            "connections": accepted_connections(self.root),
            "client": cpu_seconds(self.root, self.clients),
            "daemon": cpu_seconds(self.root, self.daemons),
            "server": cpu_seconds(self.root, [self.server]),
            "disk": number_of(self.root, [self.server], "io", "read_bytes"),
        }

    def _requests(self) -> int:
        return told(self.programs.metrics_url, _COUNTED) if self.programs.is_daemon else 0

    def wrong_delivery(self) -> str:
        """Tells whether the clients' daemons merged all that they fetched, where they are to."""
        merged = sum(told(url, _MERGED) for url in self.programs.clients_metrics_urls())
        is_merged = self.request.system == DAEMON_MERGED
        least = _FETCHES * sum(each.bytes for each in self.request.expected) if is_merged else 0
        right = merged >= least if is_merged else merged == 0
        return "" if right else f"the clients' daemons merged {merged} bytes, not {least}"


def told(url: str, names: Sequence[str]) -> int:
    """Returns the sum of numbers that a daemon tells of itself."""
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 (our own address)
        lines = [line.split() for line in answer.read().decode().splitlines()]
    wanted = {f"vas_shuffled_{name}" for name in names}
    return sum(int(words[1]) for words in lines if words[0] in wanted)


def play(request: FetchRequest, root: Root) -> FetchAnswer:
    """Plays the round. Raises VasError when a part of it fails."""
    programs, work = Programs(request), Path(request.work)
    with ExitStack() as stack:
        stage = Stage(request, root, FetchProcess(*programs.server(work)))
        running = stack.enter_context(ending([stage.server]))
        programs.tell(stage.server)
        if programs.is_daemon:
            stage.daemons = [FetchProcess(*each) for each in programs.client_daemons(work)]
            running.extend(stage.daemons)
            for daemon in stage.daemons:
                programs.tell(daemon)
        # The server is warm before anything is counted: a NodeManager lives for weeks.
        with ending(_clients(programs, work)) as stage.clients:
            stage.fetch()
        stage.clients = stack.enter_context(ending(_clients(programs, work)))
        fresh, first = stage.counted()
        again, second = stage.counted()
        delivered = stage.wrong_delivery() if programs.is_daemon else ""
    wrong = wrong_sums(request.expected, [*first, *second]) or delivered
    return FetchAnswer(fresh=fresh, again=again, wrong=wrong)


def _clients(programs: Programs, work: Path) -> list[FetchProcess]:
    clients = [FetchProcess(*each) for each in programs.clients(work)]
    for client in clients:
        client.hear("ready")
    return clients


def main() -> None:
    """Reads the request from standard input and prints the answer."""
    request = FetchRequest.model_validate_json(sys.stdin.read())
    try:
        run(["ip", "link", "set", "lo", "up"])
        print(play(request, Root()).model_dump_json())
    except VasError as failed:
        sys.exit(f"vas: {failed}")


if __name__ == "__main__":
    main()
