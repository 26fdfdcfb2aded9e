"""Makes hosts with guests, to measure and test joint plans with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vas_affinity.guest_plan import GuestRequest
from vas_affinity.machine.snapshot import (
    DeviceKind,
    Interrupt,
    PciDevice,
    Snapshot,
    Thread,
    ThreadRole,
)
from vas_affinity.machine.topology import MachineTopology

_GIB = 1 << 30


@dataclass(frozen=True)
class HostInstance:
    """A storage server at work, and the guests to place on it."""

    snapshot: Snapshot
    requests: tuple[GuestRequest, ...]


def host_instance(
    topology: MachineTopology,
    random: np.random.Generator,
    *,
    guests: int,
    vcpus: int,
    threads: int,
    queues: int,
) -> HostInstance:
    """Makes a host with a disk whose interrupts stay, a NIC with `queues` that may be moved.

    `threads` of the storage server are at work, and a vhost thread of each guest. Where the devices
    are, and how much each thing does, is random.
    """
    cpus, nodes = topology.online, [node.number for node in topology.nodes]
    disk_node, nic_node = (int(node) for node in random.choice(nodes, size=2))
    near = [cpu for cpu in cpus if topology.cpu(cpu).node == disk_node]
    fires = random.choice(near, size=min(2, len(near) // 4 or 1), replace=False).tolist()
    lines = [_disk_line(n, cpu, disk_node, random) for n, cpu in enumerate(fires)]
    lines += [_network_line(n, cpus, nic_node, random) for n in range(queues)]
    names = [f"vm{number}" for number in range(1, guests + 1)]
    seen = [_vhost(name, 500 + n, cpus, random) for n, name in enumerate(names)]
    seen += [_served(700 + n, cpus, random) for n in range(threads)]
    snapshot = Snapshot(
        host="made-up",
        topology=topology,
        devices=(
            PciDevice(name="nvme0", kind=DeviceKind.STORAGE, address="0", node=disk_node),
            PciDevice(name="ens1", kind=DeviceKind.NETWORK, address="1", node=nic_node),
        ),
        interrupts=tuple(lines),
        threads=tuple(seen),
    )
    asked = (
        GuestRequest(name=name, vcpus=vcpus, memory_bytes=int(random.integers(2, 9)) * _GIB)
        for name in names
    )
    return HostInstance(snapshot, tuple(asked))


def _disk_line(queue: int, cpu: int, node: int, random: np.random.Generator) -> Interrupt:
    return Interrupt(
        number=30 + queue, device="nvme0", kind=DeviceKind.STORAGE, queue=queue, effective=(cpu,),
        managed=True, per_second=float(random.uniform(1e3, 2e4)), node=node,
    )  # fmt: skip


def _network_line(
    queue: int, cpus: tuple[int, ...], node: int, random: np.random.Generator
) -> Interrupt:
    return Interrupt(
        number=60 + queue, device="ens1", kind=DeviceKind.NETWORK, queue=queue,
        effective=(int(random.choice(cpus)),), managed=False,
        per_second=float(random.uniform(1e3, 2e4)), node=node,
    )  # fmt: skip


def _vhost(guest: str, tid: int, cpus: tuple[int, ...], random: np.random.Generator) -> Thread:
    return Thread(
        tid=tid, pid=tid, key=f"{guest}/vhost/0", name=f"vhost-{tid}", role=ThreadRole.VHOST,
        cpu=float(random.uniform(0.1, 1)), last_cpu=int(random.choice(cpus)), guest=guest,
    )  # fmt: skip


def _served(tid: int, cpus: tuple[int, ...], random: np.random.Generator) -> Thread:
    return Thread(
        tid=tid, pid=tid, key=f"ll_ost_io/{tid}/0", name="ll_ost_io", role=ThreadRole.STORAGE,
        cpu=float(random.uniform(0.1, 0.9)), last_cpu=int(random.choice(cpus)),
    )  # fmt: skip
