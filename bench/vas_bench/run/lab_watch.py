"""Watches a lab while a job runs: memory, connections and threads of its shuffle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal

from vas_bench.fetch.processes import Repeated, pss_bytes, read_of
from vas_core.root import Root
from vas_lab.procfs import LabProcess, processes

Kind = Literal["map", "task", "daemon", "node"]
"""A lab's process: `map` runs one map task, `task` a reduce task or one task after another,
`daemon` is vas-shuffled, `node` a NodeManager."""

_PERIOD_SECONDS = 0.5
_KINDS: dict[str, Kind] = {
    "org.apache.hadoop.mapred.YarnChild": "task",
    "org.apache.hadoop.mapred.VasChild": "task",
    "org.apache.hadoop.yarn.server.nodemanager.NodeManager": "node",
}
_MAP = re.compile(r"attempt_\d+_\d+_m_")
_DAEMON = "vas-shuffled"
# Where stock's NodeManagers serve map output, and where vas-shuffled does. The daemon keeps its
# connections while other jobs run, so the two are counted apart.
_STOCK_PORT, _DAEMON_PORT = 13562, 13563
_ESTABLISHED = "01"
# How the threads of stock's copy and of VAS's merge begin; the kernel keeps 15 letters of a name.
_THREADS = ("fetcher#", "localfetcher#", "EventFetcher", "InMemoryMerger", "OnDiskMerger", "vas-")


class LabWatch:
    """Looks at the processes below a lab's supervisor twice a second, from now until `stop`.

    A state that is shorter than half a second may be missed.
    """

    def __init__(self, root: Root, supervisor: int) -> None:
        self._root, self._supervisor = root, supervisor
        self._kinds: dict[int, Kind] = {}
        self._most: dict[str, int] = {}
        self._repeated = Repeated(self._look, _PERIOD_SECONDS)

    def stop(self) -> dict[str, float]:
        """Ends the watch, after a last look, and returns the largest value of each measure."""
        self._repeated.stop()
        return {name: float(number) for name, number in self._most.items()}

    def _look(self) -> None:
        by_kind = self._by_kind()
        with_memory = [*by_kind["map"], *by_kind["task"], *by_kind["daemon"]]
        ports = [port for node in by_kind["node"] for port in open_ports(self._root, node.pid)]
        seen = {
            "peak_memory_bytes/tasks and daemons": pss_bytes(self._root, with_memory),
            "open_connections/stock": ports.count(_STOCK_PORT),
            "open_connections/daemons": ports.count(_DAEMON_PORT),
            "shuffle_threads": max(
                (shuffle_threads(self._root, it.pid) for it in by_kind["task"]), default=0
            ),
        }
        for name, number in seen.items():
            self._most[name] = max(self._most.get(name, 0), number)

    def _by_kind(self) -> dict[Kind, list[LabProcess]]:
        found: dict[Kind, list[LabProcess]] = {"map": [], "task": [], "daemon": [], "node": []}
        for process in below(processes(self._root), self._supervisor):
            # A process that is not known may become one of these by exec.
            kind = self._kinds.get(process.pid) or kind_of(
                read_of(self._root, process.pid, "cmdline")
            )
            if kind:
                self._kinds[process.pid] = kind
                found[kind].append(process)
        return found


def below(all_processes: Iterable[LabProcess], top: int) -> Iterator[LabProcess]:
    """Yields the processes that descend from the process `top`."""
    children: dict[int, list[LabProcess]] = {}
    for each in all_processes:
        children.setdefault(each.parent, []).append(each)
    left = list(children.get(top, ()))
    while left:
        process = left.pop()
        yield process
        left.extend(children.get(process.pid, ()))


def kind_of(cmdline: str) -> Kind | None:
    """Returns the kind of a process by its /proc/PID/cmdline; None for any other process."""
    words = cmdline.split("\0")
    if words[0].rpartition("/")[2] == _DAEMON:
        return "daemon"
    found = next((_KINDS[word] for word in words if word in _KINDS), None)
    return "map" if found == "task" and any(map(_MAP.match, words)) else found


def open_ports(root: Root, pid: int) -> Iterator[int]:
    """Yields the remote port of each established connection in the network of a process."""
    for file in ("net/tcp", "net/tcp6"):
        for line in read_of(root, pid, file).splitlines()[1:]:
            _, _, remote, state, *_ = line.split()
            if state == _ESTABLISHED:
                yield int(remote.rpartition(":")[2], 16)


def shuffle_threads(root: Root, pid: int) -> int:
    """Returns how many threads of a process have names of the shuffle's."""
    names = (path.read_text(errors="replace") for path in root.glob(f"proc/{pid}/task/*/comm"))
    return sum(name.startswith(_THREADS) for name in _while_there(names))


def _while_there(names: Iterator[str]) -> Iterator[str]:
    """Yields names up to a thread that has ended meanwhile."""
    try:
        yield from names
    except (FileNotFoundError, ProcessLookupError):
        return
