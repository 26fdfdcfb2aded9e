"""Lays out boxes within boxes in rows: packages, NUMA nodes, caches, cores, CPUs. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from vas_affinity.machine.snapshot import PciDevice
from vas_affinity.machine.topology import Cpu, MachineTopology
from vas_affinity.pictures.cells import HostMap
from vas_core.sizes import format_size
from vas_core.svg import text_width

CELL_WIDTH, CELL_HEIGHT = 44.0, 34.0
LABEL_SIZE = 11.0
_PADDING, _GAP, _LABEL_HEIGHT = 7.0, 6.0, 16.0


@dataclass
class Box:
    """A group of CPUs, or one CPU (`cpu`). `x` and `y` are pixels from the parent's corner."""

    label: str = ""
    children: list[Box] = field(default_factory=list)
    cpu: int | None = None
    framed: bool = True
    gap: float = _GAP
    x: float = 0.0
    y: float = 0.0
    width: float = CELL_WIDTH
    height: float = CELL_HEIGHT

    def lay_out(self, most_width: float) -> None:
        """Places the children in rows of at most that width, and sets the box's own size."""
        if self.cpu is not None:
            return
        padding = _PADDING if self.framed else 0.0
        top = padding + (_LABEL_HEIGHT if self.label else 0.0)
        x, y, row, right = padding, top, 0.0, 0.0
        for child in self.children:
            child.lay_out(most_width - 2 * padding)
            if x > padding and x + child.width + padding > most_width:
                x, y, row = padding, y + row + self.gap, 0.0
            child.x, child.y = x, y
            x, row = x + child.width + self.gap, max(row, child.height)
            right = max(right, x - self.gap)
        label = text_width(self.label, LABEL_SIZE) + 2 * padding if self.label else 0.0
        self.width = max(right + padding, min(label, most_width))
        self.height = y + row + padding


def boxes_of(host: HostMap) -> Box:
    """Returns the box of the whole host: nodes in packages, or packages in nodes that span them."""
    cpus = host.snapshot.topology.cpus
    wide = any(len({cpu.package for cpu in group}) > 1 for _, group in _by_node(cpus))
    outer, inner = (_nodes, _packages) if wide else (_packages, _nodes)
    boxes = [
        Box(label, [child for name, part in inner(host, group) for child in _box(name, part)])
        for label, group in outer(host, cpus)
    ]
    return Box(children=boxes, framed=False, gap=2 * _GAP)


def _box(label: str, cpus: Sequence[Cpu]) -> list[Box]:
    """Returns a group's box, or its content if the group has no name."""
    content = list(_caches(cpus))
    return [Box(label, content)] if label else content


def _packages(host: HostMap, cpus: Sequence[Cpu]) -> Iterator[tuple[str, list[Cpu]]]:
    for package, members in _grouped(cpus, lambda cpu: cpu.package):
        yield f"package {package}", members


def _nodes(host: HostMap, cpus: Sequence[Cpu]) -> Iterator[tuple[str, list[Cpu]]]:
    for node, members in _by_node(cpus):
        yield "" if node < 0 else _node_label(host, node), members


def _by_node(cpus: Sequence[Cpu]) -> list[tuple[int, list[Cpu]]]:
    return list(_grouped(cpus, lambda cpu: -1 if cpu.node is None else cpu.node))


def _caches(cpus: Sequence[Cpu]) -> Iterator[Box]:
    groups = list(_grouped(cpus, lambda cpu: cpu.l3))
    for cache, members in groups:
        shared = len({cpu.core for cpu in members}) > 1
        cores = [_core(group) for _, group in _grouped(members, lambda cpu: cpu.core)]
        if len(groups) == 1 or not shared:
            yield from cores
        else:
            yield Box(f"L3 {cache}", cores)


def _core(cpus: Sequence[Cpu]) -> Box:
    return Box(children=[Box(cpu=cpu.number) for cpu in cpus], framed=False, gap=1.0)


def _node_label(host: HostMap, number: int) -> str:
    found = [node for node in host.snapshot.topology.nodes if node.number == number]
    parts = [f"NUMA node {number}"]
    parts += [format_size(node.memory_bytes) for node in found if node.memory_bytes]
    near = [device.name for device in host.snapshot.devices if _is_near(device, number, host)]
    more = f" +{len(near) - 4}" if len(near) > 4 else ""
    return ", ".join(parts) + (f": {', '.join(near[:4])}{more}" if near else "")


def _is_near(device: PciDevice, node: int, host: HostMap) -> bool:
    return device.node == node or (device.node is None and _one_node(host.snapshot.topology))


def _one_node(topology: MachineTopology) -> bool:
    return len({cpu.node for cpu in topology.cpus}) == 1


def _grouped(cpus: Iterable[Cpu], by: Callable[[Cpu], int]) -> Iterator[tuple[int, list[Cpu]]]:
    ordered = sorted(cpus, key=lambda cpu: (by(cpu), cpu.number))
    for key, members in groupby(ordered, key=by):
        yield key, list(members)
