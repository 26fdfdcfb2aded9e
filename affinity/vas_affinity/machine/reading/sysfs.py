"""Reads a machine's topology from sysfs, for kernels from 2.6 on."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.kinds import efficiencies
from vas_affinity.machine.reading.nodes import read_nodes
from vas_affinity.machine.topology import Cpu, MachineTopology
from vas_core.errors import BadInput

CPUS = "sys/devices/system/cpu"


def read_topology(files: TreeFiles, name: str) -> MachineTopology:
    """Returns the machine's topology. Raises BadInput if sysfs has no CPU."""
    directories = _numbered(files.names(CPUS))
    present = files.cpus(f"{CPUS}/present") or directories
    if not directories:
        raise BadInput(f"has no {CPUS}/cpu0", where=name, hint="give the directory that holds sys/")
    online = set(files.cpus(f"{CPUS}/online") or ()) or _switched_on(files, directories)
    isolated = set(_isolated(files))
    nodes, node_of = read_nodes(files)
    kinds = efficiencies(_speeds(files, sorted(online)))
    cpus = tuple(
        _cpu(files, number, online).model_copy(
            update={
                "node": node_of.get(number) if number in online else None,
                "isolated": number in isolated,
                "efficiency": kinds.get(number),
            }
        )
        for number in sorted(present)
    )
    return MachineTopology(name=name, cpus=cpus, nodes=nodes)


def _cpu(files: TreeFiles, number: int, online: set[int]) -> Cpu:
    if number not in online:
        groups = dict.fromkeys(("package", "die", "l3", "l2", "core"), number)
        return Cpu(number=number, node=None, online=False, **groups)
    at = f"{CPUS}/cpu{number}/topology"
    core = _core(files, number, online)
    package = _lowest(files, online, number, f"{at}/package_cpus", f"{at}/core_siblings")
    # Where the architecture has no dies, the die's id is -1 and each CPU is one of its own.
    has_dies = (files.number(f"{at}/die_id") or 0) >= 0
    caches = dict(_caches(files, number, online))
    return Cpu(
        number=number,
        node=None,
        package=package,
        die=_lowest(files, online, package, f"{at}/die_cpus") if has_dies else package,
        core=core,
        l2=caches.get(2, core),
        l3=caches[max(caches)] if caches else core,
    )


def _core(files: TreeFiles, number: int, online: set[int]) -> int:
    """Returns the lowest CPU of a CPU's core.

    CPUs with core ids of their own are separate cores: those of an AMD module share only its L2.
    """
    at = f"{CPUS}/cpu{number}/topology"
    names = (f"{at}/core_cpus", f"{at}/thread_siblings")
    siblings = online.intersection(_cpus(files, *names) or ()) | {number}
    mine = files.number(f"{at}/core_id")
    return min(
        cpu
        for cpu in siblings
        if cpu == number or files.number(f"{CPUS}/cpu{cpu}/topology/core_id") == mine
    )


def _caches(files: TreeFiles, number: int, online: set[int]) -> Iterable[tuple[int, int]]:
    """Yields the level and the lowest CPU of each data and unified cache of a CPU."""
    at = f"{CPUS}/cpu{number}/cache"
    for index in files.names(at):
        level = files.number(f"{at}/{index}/level") if index.startswith("index") else None
        if level is not None and files.text(f"{at}/{index}/type") != "Instruction":
            # The mask first: kernels of 2012 list too few CPUs for the L2 of an AMD module.
            group = files.cpus(f"{at}/{index}/shared_cpu_map", f"{at}/{index}/shared_cpu_list")
            yield level, min(online.intersection(group or ()) or {number})


def _lowest(files: TreeFiles, online: set[int], otherwise: int, *names: str) -> int:
    group = _cpus(files, *names)
    return min(online.intersection(group or ()) or {otherwise})


def _cpus(files: TreeFiles, *names: str) -> tuple[int, ...] | None:
    """Reads a list, which new kernels have, or a mask: `core_cpus_list`, `core_cpus`."""
    return files.cpus(*(f"{name}{suffix}" for name in names for suffix in ("_list", "")))


def _switched_on(files: TreeFiles, directories: tuple[int, ...]) -> set[int]:
    """Returns the online CPUs of a kernel without a list.

    A CPU that cannot be switched off has no file `online`.
    """
    return {cpu for cpu in directories if files.number(f"{CPUS}/cpu{cpu}/online") != 0}


def _isolated(files: TreeFiles) -> tuple[int, ...]:
    text = files.text(f"{CPUS}/isolated") or ""
    # A kernel without cpusets prints "(null)"-like texts here; nothing is isolated then.
    return files.cpus(f"{CPUS}/isolated") or () if text[:1].isdigit() else ()


def _speeds(files: TreeFiles, online: Iterable[int]) -> dict[int, int]:
    """Returns a speed for every CPU, all from one source; empty if no source has all."""
    online = tuple(online)
    by_capacity = {cpu: files.number(f"{CPUS}/cpu{cpu}/cpu_capacity") for cpu in online}
    found = {cpu: speed for cpu, speed in by_capacity.items() if speed is not None}
    if len(set(found.values())) > 1:
        return found
    slow = set(files.cpus("sys/devices/cpu_atom/cpus") or ())
    fast = set(files.cpus("sys/devices/cpu_core/cpus") or ())
    if slow and fast:
        return {cpu: 1 if cpu in slow else 2 for cpu in online}
    for name in ("base_frequency", "cpuinfo_max_freq"):
        speeds = {cpu: files.number(f"{CPUS}/cpu{cpu}/cpufreq/{name}") for cpu in online}
        if all(speeds.values()):
            return {cpu: speed for cpu, speed in speeds.items() if speed}
    return {}


def _numbered(names: Iterable[str]) -> tuple[int, ...]:
    matches = (re.fullmatch(r"cpu(\d+)", name) for name in names)
    return tuple(sorted(int(match[1]) for match in matches if match))
