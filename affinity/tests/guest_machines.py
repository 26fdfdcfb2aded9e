"""Machines made up for tests of guest plans."""

from __future__ import annotations

from hypothesis import strategies as st

from vas_affinity.machine.snapshot import DeviceKind, Interrupt, Snapshot, Thread, ThreadRole
from vas_affinity.machine.topology import Cpu, MachineTopology, NumaNode

GIB = 1 << 30
PAGE = 2 << 20


def machine(
    *,
    nodes: int = 2,
    caches: int = 1,
    cores: int = 6,
    threads: int = 2,
    node_gib: int = 64,
    offline: frozenset[int] = frozenset(),
    isolated: frozenset[int] = frozenset(),
    slow: frozenset[int] = frozenset(),
) -> MachineTopology:
    """A machine of equal nodes. Thread t of core c is CPU t * cores + c, as Linux numbers them.

    `slow` are cores of a slower kind, with one thread each.
    """
    per_node = caches * cores
    total = nodes * per_node
    cpus = [
        Cpu(
            number=thread * total + core,
            package=core // per_node * per_node,
            die=core // per_node * per_node,
            node=core // per_node,
            l3=core // cores * cores,
            l2=core,
            core=core,
            online=thread * total + core not in offline,
            isolated=thread * total + core in isolated,
            efficiency=(0 if core in slow else 1) if slow else None,
        )
        for thread in range(threads)
        for core in range(total)
        if thread == 0 or core not in slow
    ]
    memory = [
        NumaNode(
            number=node,
            memory_bytes=node_gib * GIB,
            distances={other: 10 if other == node else 21 for other in range(nodes)},
            huge_pages={PAGE: 0, GIB: 0},
        )
        for node in range(nodes)
    ]
    return MachineTopology(name="made-up", cpus=tuple(cpus), nodes=tuple(memory))


def host(
    topology: MachineTopology, *interrupts: Interrupt, threads: tuple[Thread, ...] = ()
) -> Snapshot:
    """A host that nothing else is known of."""
    return Snapshot(host="oss1", topology=topology, interrupts=interrupts, threads=threads)


def nvme(number: int, *cpus: int, device: str = "nvme0", **more: int | float | bool) -> Interrupt:
    """A storage interrupt that fires on these CPUs, and cannot be moved."""
    known: dict[str, object] = {"managed": True} | more
    return Interrupt.model_validate(
        {"number": number, "device": device, "kind": DeviceKind.STORAGE, "effective": cpus} | known
    )


def nic(number: int, *cpus: int, device: str = "ens1", **more: int | float | bool) -> Interrupt:
    """A network interrupt that fires on these CPUs; nobody knows whether it can be moved."""
    known = {"number": number, "device": device, "kind": DeviceKind.NETWORK, "effective": cpus}
    return Interrupt.model_validate(known | more)


def thread(tid: int, role: ThreadRole, *, guest: str | None = None) -> Thread:
    """A thread that was seen."""
    key = f"{guest}/vhost/0" if guest else f"ll_ost_io/{tid}/0"
    return Thread(tid=tid, pid=tid, key=key, name=key, role=role, start=7, guest=guest)


@st.composite
def topologies(draw: st.DrawFn) -> MachineTopology:
    """Machines with holes: CPUs offline, isolated, of two kinds, in nodes with little memory."""
    nodes, caches = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    cores, threads = draw(st.integers(1, 6)), draw(st.sampled_from([1, 2, 2, 4]))
    total = nodes * caches * cores
    numbers = st.frozensets(st.integers(1, max(1, total * threads - 1)), max_size=6)
    return machine(
        nodes=nodes,
        caches=caches,
        cores=cores,
        threads=threads,
        node_gib=draw(st.sampled_from([2, 16, 256])),
        offline=draw(numbers),
        isolated=draw(numbers),
        slow=draw(st.one_of(st.just(frozenset()), st.just(frozenset(range(total // 2, total))))),
    )


@st.composite
def hosts(draw: st.DrawFn) -> Snapshot:
    """Hosts whose storage and network interrupts are anywhere, some of them movable."""
    topology = draw(topologies())
    cpus = st.lists(st.sampled_from(topology.online), min_size=1, max_size=4, unique=True)
    lines = [
        Interrupt(
            number=30 + index,
            device=draw(st.sampled_from(["nvme0", "nvme1", "ens1"])),
            kind=draw(st.sampled_from(list(DeviceKind))),
            effective=tuple(draw(cpus)),
            managed=draw(st.sampled_from([True, False, None])),
            per_second=draw(st.sampled_from([None, 0.0, 900.0])),
        )
        for index in range(draw(st.integers(0, 8)))
    ]
    return host(topology, *lines)
