"""Counters of a site's nodes, read on them by one command each; and their page caches."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import PurePosixPath

from vas_bench.run.counters import Counters, cached_bytes, device_counters, network_counters
from vas_cluster import Cluster
from vas_core.errors import BadInput, VasError
from vas_core.process import run
from vas_routing.counters import parse_counters

_TIMEOUT_SECONDS = 60.0
_AT_ONCE = 16
_NODE = "{node}"
_BOOT = "/proc/sys/kernel/random/boot_id"
_CPU, _CPU_V1 = "/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpuacct/cpuacct.usage"
_NETWORK, _MEMORY, _STAT = "/proc/net/dev", "/proc/meminfo", "/proc/stat"
_FILES = (_BOOT, _NETWORK, _MEMORY, _STAT, _CPU, _CPU_V1)
# Of the client of the metadata servers: every request that it sent waited in a queue there.
_MDC = ("lctl", "get_param", "-n", "mdc.*.stats")
_REQUESTS = re.compile(r"^req_waittime\s+(\d+) samples", re.MULTILINE)
_USED = re.compile(r"^usage_usec (\d+)$", re.MULTILINE)
_TICKS = re.compile(r"^cpu" + r" +(\d+)" * 7, re.MULTILINE)
_TICK_MICROSECONDS = 10_000  # USER_HZ is 100, whatever the kernel's own is
_HEADER = re.compile(r"^==> (.+) <==$", re.MULTILINE)
_DROP = (("sync",), ("sysctl", "-q", "-w", "vm.drop_caches=1"))


@dataclass(frozen=True)
class NodeCounts:
    """The output of one node: files by their paths, and its client of the MDTs."""

    files: Mapping[str, str]
    mdc: str = ""

    @property
    def machine(self) -> str:
        """The kernel's boot id, which nodes in namespaces of one machine share."""
        return self.files.get(_BOOT, "").strip()


@dataclass(frozen=True)
class Nodes:
    """The guests of a site, and its hosts with their OSTs' devices, behind a command.

    `reach` is a command line that runs what is put behind it on the node `{node}`, like
    `ssh root@{node}`; without one nothing is counted on nodes.
    """

    cluster: Cluster
    reach: str

    def __post_init__(self) -> None:
        if self.reach and _NODE not in self.reach:
            hint = "write it like 'ssh root@{node}'"
            raise BadInput(f"{self.reach!r} has no {_NODE}", where="--reach", hint=hint)

    def look(self) -> tuple[Counters, dict[str, float]]:
        """Returns what all nodes have counted so far, and what their page caches hold now.

        Both are empty without `reach`. Raises VasError for a node on which nothing can be
        read.
        """
        if not self.reach:
            return Counters({}), {}
        guests = [guest.name for guest in self.cluster.guests()]
        hosts = {host.name: host.storage_devices for host in self.cluster.hosts}
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            seen = list(pool.map(self._guest, guests))
            devices = list(pool.map(self._devices, hosts, hosts.values()))
        return counted(seen, [text for texts in devices for text in texts]), cached(seen)

    def drop_caches(self, *, servers: bool) -> None:
        """Empties the guests' page caches, and the hosts' too if `servers`. Raises VasError."""
        nodes = [guest.name for guest in self.cluster.guests()]
        nodes += [host.name for host in self.cluster.hosts] if servers else []
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            for _ in pool.map(self._drop, nodes):
                pass

    def _drop(self, node: str) -> None:
        for words in _DROP:
            run([*self._argv(node), *words], timeout_seconds=_TIMEOUT_SECONDS)

    def _guest(self, node: str) -> NodeCounts:
        return NodeCounts(self._files(node, _FILES), self._on(node, _MDC))

    def _devices(self, node: str, devices: Iterable[str]) -> list[str]:
        files = [f"/sys/class/block/{PurePosixPath(each).name}/stat" for each in devices]
        return list(self._files(node, files).values()) if files else []

    def _files(self, node: str, files: Iterable[str]) -> dict[str, str]:
        found = sections(self._on(node, ("tail", "-v", "-n", "+1", *files)))
        if not found:
            hint = f"try it by hand: {shlex.join([*self._argv(node), 'uptime'])}"
            raise VasError("nothing can be read there", where=node, hint=hint)
        return found

    def _on(self, node: str, words: Iterable[str]) -> str:
        # What a node lacks is said by its status, and is no failure: the rest is there.
        argv = [*self._argv(node), *words]
        return run(argv, check=False, timeout_seconds=_TIMEOUT_SECONDS).stdout

    def _argv(self, node: str) -> list[str]:
        return [word.replace(_NODE, node) for word in shlex.split(self.reach)]


def sections(text: str) -> dict[str, str]:
    """Returns file -> text from the output of `tail -v`."""
    parts = _HEADER.split(text)
    return dict(zip(parts[1::2], (part.strip("\n") for part in parts[2::2]), strict=True))


def counted(seen: Sequence[NodeCounts], devices: Iterable[str]) -> Counters:
    """Returns sums: CPU of each machine once, network and metadata requests of each node."""
    total: Counter[str] = Counter()
    for node in seen:
        found = parse_counters(node.files.get(_NETWORK, ""))
        interfaces = ((d, c["rx_bytes"], c["tx_bytes"]) for d, c in found.items() if d != "lo")
        total.update(network_counters(interfaces))
        for requests in _REQUESTS.findall(node.mdc):
            total["metadata_requests"] += int(requests)
    for machine in _machines(seen):
        total["cpu_microseconds"] += _microseconds(machine)
    for text in devices:
        total.update(device_counters(text))
    return Counters({name: value for name, value in total.items() if value})


def cached(seen: Iterable[NodeCounts]) -> dict[str, float]:
    """Returns the bytes of all machines' page caches; nothing where no machine reports them."""
    found = [cached_bytes(machine.files.get(_MEMORY, "")) for machine in _machines(seen)]
    known = [each for each in found if each is not None]
    return {"page_cache_bytes": float(sum(known))} if known else {}


def _machines(seen: Iterable[NodeCounts]) -> Iterable[NodeCounts]:
    return {node.machine: node for node in seen}.values()


def _microseconds(node: NodeCounts) -> int:
    """CPU of everything on a machine: as its root cgroup counts it (v2, else v1), or in ticks."""
    if used := _USED.search(node.files.get(_CPU, "")):
        return int(used[1])
    nanoseconds = node.files.get(_CPU_V1, "").strip()
    if nanoseconds.isdigit():
        return int(nanoseconds) // 1000
    ticks = _TICKS.search(node.files.get(_STAT, ""))
    # user, nice, system; idle and iowait are none; irq, softirq.
    return sum(int(ticks[n]) for n in (1, 2, 3, 6, 7)) * _TICK_MICROSECONDS if ticks else 0
