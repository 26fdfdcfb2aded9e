"""Chooses a guest's cores among those that are free. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil

from vas_affinity.guest_plan.machine import Core, Near
from vas_affinity.guest_plan.request import GuestRequest

Cores = tuple[tuple[Core, ...], tuple[Core, ...]]
"""The cores of the vCPUs, and the cores of the helpers (emulator and iothreads)."""


@dataclass(frozen=True)
class Concessions:
    """The comforts that a plan gives up on a machine too small for all of them."""

    emulator_shares: bool = False
    """The emulator runs on the host's CPUs instead of CPUs of its own."""
    iothreads_share: bool = False
    """The iothreads run on the host's CPUs instead of CPUs of their own."""
    host_shares: bool = False
    """The host's other work runs on the storage server's cores instead of cores of its own; only
    on machines of `FEW_CORES` or fewer."""


FEW_CORES = 3
CONCESSIONS = (
    Concessions(),
    Concessions(emulator_shares=True),
    Concessions(emulator_shares=True, iothreads_share=True),
    Concessions(emulator_shares=True, iothreads_share=True, host_shares=True),
)
"""All concessions, in the order in which they are tried: each gives up one comfort more."""


@dataclass(frozen=True)
class GuestCores:
    """The cores of one guest. Its vCPUs use the first `threads` CPUs of each of `cores`."""

    request: GuestRequest
    threads: int
    cores: tuple[Core, ...]
    helpers: tuple[Core, ...]
    """The cores of its emulator and iothreads."""
    iothread_cpus: tuple[int, ...] = ()
    """A CPU for each iothread; none if they run on the host's CPUs."""
    emulator_cpus: tuple[int, ...] = ()
    """The CPUs of the emulator alone; none if it runs on the host's CPUs."""

    @property
    def vcpus(self) -> tuple[int, ...]:
        """Returns the host CPU of each vCPU, by its number: siblings have neighbouring numbers."""
        cpus = [cpu for core in self.cores for cpu in core.cpus[: self.threads]]
        return tuple(cpus[: self.request.vcpus])

    @property
    def nodes(self) -> tuple[int, ...]:
        """Returns the NUMA nodes of the guest's cores, ascending."""
        return tuple(sorted({core.node for core in self.cores if core.node is not None}))


@dataclass(frozen=True)
class Capacity:
    """Limits of a choice of cores.

    `homes` are the NUMA nodes whose memory holds the whole guest; `threads_at_most` is how many
    CPUs of a core vCPUs may use.
    """

    homes: frozenset[int]
    threads_at_most: int


def choose_cores(
    request: GuestRequest,
    free: Sequence[Core],
    near: Near,
    capacity: Capacity,
    concessions: Concessions,
) -> GuestCores | None:
    """Chooses the guest's cores among the free ones; None if it does not fit.

    Takes the fastest cores first, all of one kind; isolated ones before others; as many threads of
    each as there are; on one node if that is possible, else on few, nearest to storage.
    """
    iothreads = 0 if concessions.iothreads_share else request.iothreads
    emulator = not concessions.emulator_shares
    for pool, threads in _pools(free, min(capacity.threads_at_most, request.vcpus)):
        count = ceil(request.vcpus / threads)
        choice = _Choice(free, near, capacity.homes, count, iothreads, emulator)
        chosen = choice.iothreads_first(pool) or choice.vcpus_first(pool)
        if chosen:
            cores, helpers = chosen
            cpus = [cpu for core in helpers for cpu in core.cpus]
            mine, rest = tuple(cpus[:iothreads]), tuple(cpus[iothreads:])
            return GuestCores(request, threads, cores, helpers, mine, rest if emulator else ())
    return None


def _pools(free: Sequence[Core], most: int) -> Iterator[tuple[list[Core], int]]:
    widest = max((len(core.cpus) for core in free), default=0)
    for kind in sorted({core.kind for core in free}, reverse=True):
        for threads in range(min(most, widest), 0, -1):
            fit = [core for core in free if core.kind == kind and len(core.cpus) >= threads]
            if any(core.isolated for core in fit):
                yield [core for core in fit if core.isolated], threads
            yield fit, threads


@dataclass(frozen=True)
class _Choice:
    """Takes `count` cores for vCPUs, a CPU for each of the iothreads, and one for the emulator."""

    free: Sequence[Core]
    near: Near
    homes: frozenset[int]
    count: int
    iothreads: int
    emulator: bool

    def iothreads_first(self, pool: Sequence[Core]) -> Cores | None:
        """Gives the iothreads the cores nearest to storage, if a node holds them and the vCPUs."""
        widest = max((len(core.cpus) for core in self.free), default=1)
        together = self._cores(pool, ceil(self.iothreads / widest)) or ()
        nodes = {core.node for core in together}
        first = self._helpers([core for core in self.free if core.node in nodes])
        cores = self._cores([core for core in pool if core not in (first or ())], 0)
        return self._with_emulator(cores, first) if together else None

    def vcpus_first(self, pool: Sequence[Core]) -> Cores | None:
        """Gives the iothreads what the vCPUs leave, on the vCPUs' nodes if possible."""
        cores = self._cores(pool, 0)
        left = [core for core in self.free if core not in (cores or ())]
        nodes = {core.node for core in cores or ()}
        local = self._helpers([core for core in left if core.node in nodes])
        return self._with_emulator(cores, self._helpers(left) if local is None else local)

    def _with_emulator(
        self, cores: tuple[Core, ...] | None, helpers: tuple[Core, ...] | None
    ) -> Cores | None:
        """Adds a core if the iothreads' cores have no thread left for the emulator."""
        if not cores or helpers is None:
            return None
        if self.emulator and sum(len(core.cpus) for core in helpers) == self.iothreads:
            taken = {*cores, *helpers}
            left = [c for c in self.free if c not in taken and not c.isolated]
            nodes = {core.node for core in cores}
            order = sorted(self.near.order(left), key=lambda core: core.node not in nodes)
            return (cores, (*helpers, order[0])) if order else None
        return cores, helpers

    def _helpers(self, cores: Sequence[Core]) -> tuple[Core, ...] | None:
        taken: list[Core] = []
        for core in self.near.order(core for core in cores if not core.isolated):
            if sum(len(core.cpus) for core in taken) >= self.iothreads:
                break
            taken.append(core)
        enough = sum(len(core.cpus) for core in taken) >= self.iothreads
        return tuple(taken) if enough else None

    def _cores(self, pool: Sequence[Core], extra: int) -> tuple[Core, ...] | None:
        """Takes cores of one node that has `extra` more, else of few nodes, nearest node first."""
        by_node: dict[int | None, list[Core]] = {}
        for core in sorted(self.near.order(pool), key=lambda core: not core.isolated):
            by_node.setdefault(core.node, []).append(core)
        nodes = sorted(by_node, key=lambda node: node not in self.homes)  # stable: nearest first
        for node in nodes:
            if len(by_node[node]) >= self.count + extra:
                return tuple(by_node[node][: self.count])
        shares = _split(self.count, {node: len(by_node[node]) for node in nodes})
        taken = [core for node, share in shares.items() for core in by_node[node][:share]]
        return tuple(taken) if len(taken) == self.count and not extra else None


def _split(count: int, free: dict[int | None, int]) -> dict[int | None, int]:
    """Splits `count` cores over as few nodes as hold them, evenly if their free cores allow it."""
    nodes: list[int | None] = []
    for node in free:
        if sum(free[n] for n in nodes) < count:
            nodes.append(node)
    for node in list(nodes):
        if sum(free[n] for n in nodes if n != node) >= count:
            nodes.remove(node)
    each, rest = divmod(count, max(1, len(nodes)))
    if not rest and all(free[node] >= each for node in nodes):
        return dict.fromkeys(nodes, each)
    shares: dict[int | None, int] = {}
    for node in nodes:
        shares[node] = min(free[node], count - sum(shares.values()))
    return shares
