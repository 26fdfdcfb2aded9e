"""The topology of this host. To be `vas_affinity.reading`'s."""

from __future__ import annotations

from vas_affinity.cpulist import parse_cpulist
from vas_affinity.topology import Cpu, Topology
from vas_core.root import Root


def read_topology(root: Root) -> Topology:
    cpus = []
    for n in parse_cpulist(root.read("sys/devices/system/cpu/online") or "0"):
        base = f"sys/devices/system/cpu/cpu{n}"

        def low(path: str, n: int = n) -> int:
            return (parse_cpulist(root.read(path) or "") or (n,))[0]

        cpus.append(
            Cpu(
                number=n,
                package=low(f"{base}/topology/package_cpus_list"),
                die=low(f"{base}/topology/die_cpus_list"),
                node=0,
                l3=low(f"{base}/cache/index3/shared_cpu_list"),
                l2=low(f"{base}/cache/index2/shared_cpu_list"),
                core=low(f"{base}/topology/core_cpus_list"),
            )
        )
    return Topology(name=root.read("proc/sys/kernel/hostname") or "?", cpus=tuple(cpus))
