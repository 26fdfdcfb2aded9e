"""Any machine, written as sysfs has it and as lstopo does, reads the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.machine.reading.archive import TreeArchive
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.lstopo import read_lstopo
from vas_affinity.machine.reading.sysfs import CPUS, read_topology
from vas_affinity.machine.topology import Cpu, MachineTopology, NumaNode


@st.composite
def machines(draw: st.DrawFn) -> MachineTopology:
    """A NUMA node to a package; numbers dealt to threads as firmware likes, some offline."""
    packages, dies, caches, cores, threads = (draw(st.integers(1, 3)) for _ in range(5))
    shape = [
        (p, (p, d), (p, d, c), (p, d, c, k))
        for p in range(packages)
        for d in range(dies)
        for c in range(caches)
        for k in range(cores)
        for _ in range(threads)
    ]
    dealt = draw(st.permutations(shape))
    offline = draw(st.sets(st.integers(1, len(dealt) - 1))) if len(dealt) > 1 else set()
    online = [number for number in range(len(dealt)) if number not in offline]
    cpus = [
        Cpu(
            number=n,
            node=dealt[n][0],
            **dict(
                zip(("package", "die", "l3", "l2"), lowest(dealt, online, n), strict=True),
                core=lowest(dealt, online, n)[3],
            ),
        )
        if n in online
        else Cpu(number=n, node=None, package=n, die=n, l3=n, l2=n, core=n, online=False)
        for n in range(len(dealt))
    ]
    far = draw(st.integers(11, 40))
    nodes = [
        NumaNode(
            number=p,
            memory_bytes=draw(st.integers(1, 1 << 20)) << 12,
            distances={q: 10 if p == q else far for q in range(packages)},
            huge_pages={2 << 20: draw(st.integers(0, 9))},
        )
        for p in range(packages)
    ]
    return MachineTopology(name="any", cpus=tuple(cpus), nodes=tuple(nodes))


def lowest(
    dealt: list[tuple[object, ...]], online: list[int], number: int
) -> tuple[int, int, int, int]:
    groups = [min(n for n in online if dealt[n][at] == dealt[number][at]) for at in range(4)]
    return groups[0], groups[1], groups[2], groups[3]


def together(machine: MachineTopology, cpu: Cpu, group: str) -> list[int]:
    same = getattr(cpu, group)
    return [n for n in machine.online if getattr(machine.cpu(n), group) == same]


def as_sysfs(machine: MachineTopology) -> TreeArchive:
    files = {
        f"{CPUS}/present": f"0-{len(machine.cpus) - 1}",
        f"{CPUS}/online": format_cpulist(machine.online),
    }
    for cpu in machine.cpus:
        at = f"{CPUS}/cpu{cpu.number}"
        files[f"{at}/online"] = str(int(cpu.online))
        if cpu.online:
            files |= _groups(machine, cpu, at)
    for node in machine.nodes:
        at = f"sys/devices/system/node/node{node.number}"
        mine = [n for n in machine.online if machine.cpu(n).node == node.number]
        (pages,) = node.huge_pages.values()
        files |= {
            f"{at}/cpulist": format_cpulist(mine),
            f"{at}/distance": " ".join(map(str, node.distances.values())),
            f"{at}/meminfo": f"Node {node.number} MemTotal: {node.memory_bytes >> 10} kB",
            f"{at}/hugepages/hugepages-2048kB/nr_hugepages": str(pages),
        }
    return TreeArchive({path: text.encode() for path, text in files.items()})


def _groups(machine: MachineTopology, cpu: Cpu, at: str) -> dict[str, str]:
    def cpulist(group: str) -> str:
        return format_cpulist(together(machine, cpu, group)) + "\n"

    return {
        f"{at}/topology/core_id": str(cpu.core),
        f"{at}/topology/core_cpus_list": cpulist("core"),
        f"{at}/topology/die_cpus_list": cpulist("die"),
        f"{at}/topology/package_cpus_list": cpulist("package"),
        f"{at}/cache/index2/level": "2\n",
        f"{at}/cache/index2/type": "Unified\n",
        f"{at}/cache/index2/shared_cpu_list": cpulist("l2"),
        f"{at}/cache/index3/level": "3\n",
        f"{at}/cache/index3/type": "Unified\n",
        f"{at}/cache/index3/shared_cpu_list": cpulist("l3"),
    }


LEVELS = [("Package", "package"), ("Die", "die"), ("L3Cache", "l3"), ("L2Cache", "l2")]


def as_xml(machine: MachineTopology) -> bytes:
    size = len(machine.nodes)
    numbers = " ".join(str(node.number) for node in machine.nodes)
    values = " ".join(str(d) for node in machine.nodes for d in node.distances.values())
    inner = nested(machine, list(machine.online), [*LEVELS, ("Core", "core")])
    nodes = "".join(
        f'<object type="NUMANode" os_index="{node.number}" local_memory="{node.memory_bytes}"'
        f' cpuset="{bitmap(n for n in machine.online if machine.cpu(n).node == node.number)}">'
        f'<page_type size="4096" count="1"/>'
        + "".join(f'<page_type size="{s}" count="{c}"/>' for s, c in node.huge_pages.items())
        + "</object>"
        for node in machine.nodes
    )
    every = bitmap(cpu.number for cpu in machine.cpus)
    return (
        '<?xml version="1.0"?><!DOCTYPE topology SYSTEM "hwloc2.dtd"><topology version="2.0">'
        f'<object type="Machine" cpuset="{bitmap(machine.online)}" complete_cpuset="{every}">'
        f"{nodes}{inner}</object>"
        f'<distances2 type="NUMANode" nbobjs="{size}" name="NUMALatency" indexing="os">'
        f"<indexes>{numbers} </indexes><u64values>{values} </u64values></distances2></topology>"
    ).encode()


def nested(machine: MachineTopology, cpus: list[int], levels: list[tuple[str, str]]) -> str:
    if not levels:
        return "".join(f'<object type="PU" os_index="{n}" cpuset="{bitmap([n])}"/>' for n in cpus)
    (kind, group), *rest = levels
    of: Callable[[int], int] = lambda n: getattr(machine.cpu(n), group)  # noqa: E731
    parts = [[n for n in cpus if of(n) == first] for first in sorted(set(map(of, cpus)))]
    return "".join(
        f'<object type="{kind}" cpuset="{bitmap(part)}">{nested(machine, part, rest)}</object>'
        for part in parts
    )


def bitmap(cpus: Iterable[int]) -> str:
    """As hwloc writes it: words of 32 bits, not filled with zeros, an empty one for 0."""
    bits = sum(1 << cpu for cpu in cpus)
    words = []
    while bits or not words:
        words.append(f"0x{bits & 0xFFFFFFFF:x}" if bits & 0xFFFFFFFF or not words else "")
        bits >>= 32
    return ",".join(reversed(words))


@pytest.mark.unhurried
@settings(max_examples=60)
@given(machines())
def test_both_decoders_read_any_machine(machine: MachineTopology) -> None:
    files = TreeFiles(as_sysfs(machine))
    assert read_topology(files, "any") == machine
    assert files.unread == []
    assert read_lstopo(as_xml(machine), "any")[0] == machine
