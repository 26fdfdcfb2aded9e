"""Reads a machine from the output of hwloc's `lstopo --of xml` (versions 1 to 3 of the format)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element

from vas_affinity.machine.reading.kinds import efficiencies
from vas_affinity.machine.reading.pci import device_of
from vas_affinity.machine.snapshot import PciDevice
from vas_affinity.machine.topology import Cpu, MachineTopology, NumaNode
from vas_core.errors import BadInput
from vas_core.xmltree import parse_xml

_CACHE = re.compile(r"L(\d)Cache")
_SPEEDS = ("LinuxCapacity", "FrequencyBaseMHz", "FrequencyMaxMHz")
_MOST_CPUS = 65536


@dataclass(frozen=True)
class _Inside:
    """The numbers of the objects that contain an object."""

    cpus: tuple[int, ...] = ()
    package: int | None = None
    die: int | None = None
    core: int | None = None
    caches: tuple[tuple[int, int], ...] = ()
    """Level and lowest CPU, the outermost first."""


@dataclass
class _Found:
    """The facts of all objects of the tree."""

    where: str
    all: set[int] = field(default_factory=set)
    cpus: dict[int, Cpu] = field(default_factory=dict)
    nodes: dict[int, NumaNode] = field(default_factory=dict)
    near: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """CPUs by node."""
    index: dict[str, int] = field(default_factory=dict)
    """A node's number by hwloc's own number."""
    pci: list[tuple[Element, tuple[int, ...]]] = field(default_factory=list)


def read_lstopo(content: bytes, name: str) -> tuple[MachineTopology, tuple[PciDevice, ...]]:
    """Returns the machine and its storage and network devices.

    Raises BadInput if the content is not a topology.
    """
    tree = parse_xml(content, where=name)
    if tree.tag != "topology":
        hint = "`lstopo --of xml` writes one"
        raise BadInput(f"is not a topology: its XML is a <{tree.tag}>", where=name, hint=hint)
    found = _Found(name)
    for top in tree.findall("object"):
        _gather(found, top)
    if not found.cpus:
        raise BadInput("has no CPU (PU) in it", where=name)
    topology = _topology(found, tree)
    devices = (device_of(_pci(element), near, topology) for element, near in found.pci)
    kept = sorted((device for device in devices if device), key=lambda device: device.address)
    return topology, tuple(kept)


def _gather(found: _Found, top: Element) -> None:
    waiting = [(top, _Inside())]
    while waiting:
        element, outer = waiting.pop()
        inside = _enter(found, element, outer)
        _note(found, element, inside)
        waiting += [(child, inside) for child in element.findall("object")]


def _enter(found: _Found, element: Element, outer: _Inside) -> _Inside:
    kind, cpus = element.get("type", ""), _bitmap(found, element, "cpuset")
    if not cpus:
        return outer
    inside, first = replace(outer, cpus=cpus), cpus[0]
    level = _level(element)
    if level is not None:
        return replace(inside, caches=(*inside.caches, (level, first)))
    if kind in ("Package", "Socket"):
        return replace(inside, package=first)
    if kind == "Die":
        return replace(inside, die=first)
    return replace(inside, core=first) if kind == "Core" else inside


def _note(found: _Found, element: Element, inside: _Inside) -> None:
    match element.get("type"):
        case "Machine" | "System":
            found.all.update(_bitmap(found, element, "complete_cpuset"))
        case "PU":
            number = _number(found, element, "os_index")
            found.cpus[number] = _cpu(number, inside)
        case "NUMANode":
            _note_node(found, element)
        case "PCIDev":
            found.pci.append((element, inside.cpus))


def _cpu(number: int, inside: _Inside) -> Cpu:
    core = number if inside.core is None else inside.core
    package = number if inside.package is None else inside.package
    caches = dict(inside.caches)
    return Cpu(
        number=number,
        node=None,
        package=package,
        die=package if inside.die is None else inside.die,
        core=core,
        l2=caches.get(2, core),
        l3=caches[max(caches)] if caches else core,
    )


def _note_node(found: _Found, element: Element) -> None:
    number = _number(found, element, "os_index")
    pages = {
        _number(found, page, "size"): _number(found, page, "count")
        for page in element.findall("page_type")
    }
    pages.pop(min(pages, default=0), None)  # the base page: all others are huge
    memory = int(element.get("local_memory") or 0)
    found.nodes[number] = NumaNode(
        number=number, memory_bytes=memory, huge_pages=dict(sorted(pages.items()))
    )
    found.near[number] = _bitmap(found, element, "cpuset")
    found.index[element.get("gp_index", "")] = number


def _topology(found: _Found, tree: Element) -> MachineTopology:
    node_of: dict[int, int] = {}
    # The smallest node that holds a CPU is its own: others are of the whole machine (CXL, HBM).
    for number in sorted(found.near, key=lambda n: (-len(found.near[n]), -n)):
        node_of.update(dict.fromkeys(found.near[number], number))
    kinds = efficiencies(_speeds(found, tree))
    distances = _distances(found, tree)
    cpus = [
        cpu.model_copy(update={"node": node_of.get(n), "efficiency": kinds.get(n)})
        for n, cpu in found.cpus.items()
    ]
    cpus += [_offline(number) for number in found.all - set(found.cpus)]
    nodes = (
        node.model_copy(update={"distances": distances.get(n, {})})
        for n, node in sorted(found.nodes.items())
    )
    ordered = tuple(sorted(cpus, key=lambda cpu: cpu.number))
    return MachineTopology(name=found.where, cpus=ordered, nodes=tuple(nodes))


def _offline(number: int) -> Cpu:
    groups = dict.fromkeys(("package", "die", "l3", "l2", "core"), number)
    return Cpu(number=number, node=None, online=False, **groups)


def _distances(found: _Found, tree: Element) -> dict[int, dict[int, int]]:
    for matrix in tree.findall("distances2"):
        if matrix.get("type") != "NUMANode" or "Bandwidth" in matrix.get("name", ""):
            continue
        words = _words(matrix, "indexes")
        by_os = matrix.get("indexing") == "os"
        nodes = [int(word) if by_os else found.index.get(word, -1) for word in words]
        values = [int(word) for word in _words(matrix, "u64values")]
        if len(values) == len(nodes) ** 2:
            rows = zip(*[iter(values)] * len(nodes), strict=True)
            return {
                n: dict(zip(nodes, row, strict=True)) for n, row in zip(nodes, rows, strict=True)
            }
    return {n: {n: 10} for n in found.nodes} if len(found.nodes) == 1 else {}


def _speeds(found: _Found, tree: Element) -> dict[int, int]:
    kinds = tree.findall("cpukind")
    infos = [
        {info.get("name"): info.get("value") for info in kind.findall("info")} for kind in kinds
    ]
    if any(info.get("CoreType") == "IntelAtom" for info in infos):
        values = [1 if info.get("CoreType") == "IntelAtom" else 2 for info in infos]
        return _spread(found, kinds, values)
    for name in _SPEEDS:
        given = [info.get(name) or "" for info in infos]
        if given and all(text.isdecimal() for text in given):
            return _spread(found, kinds, [int(text) for text in given])
    return {}


def _spread(found: _Found, kinds: list[Element], speeds: list[int]) -> dict[int, int]:
    return {
        cpu: speed
        for kind, speed in zip(kinds, speeds, strict=True)
        for cpu in _bitmap(found, kind, "cpuset")
        if cpu in found.cpus
    }


def _level(element: Element) -> int | None:
    """Of a data or unified cache; version 1 has `Cache` with a depth."""
    match = _CACHE.fullmatch(element.get("type", ""))
    if match:
        return int(match[1])
    if element.get("type") == "Cache" and element.get("cache_type") != "2":
        return int(element.get("depth") or 0) or None
    return None


def _pci(element: Element) -> tuple[str, int, tuple[str, ...]]:
    children = (child for child in element.findall("object") if child.get("type") == "OSDev")
    code = element.get("pci_type", "")[:4]
    names = tuple(sorted(child.get("name", "") for child in children))
    return element.get("pci_busid", ""), int(code or "0", 16), names


def _words(element: Element, tag: str) -> Iterator[str]:
    for child in element.findall(tag):
        yield from (child.text or "").split()


def _number(found: _Found, element: Element, key: str) -> int:
    try:
        return int(element.get(key, ""))
    except ValueError:
        what = f"a {element.get('type') or element.tag} without a number in {key!r}"
        raise BadInput(what, where=found.where) from None


def _bitmap(found: _Found, element: Element, key: str) -> tuple[int, ...]:
    """hwloc's form: words of 32 bits, the highest first, empty for 0; `0xf...f` is without end."""
    bits = 0
    for word in filter(lambda word: word != "0xf...f", (element.get(key) or "").split(",")):
        try:
            bits = bits << 32 | int(word or "0", 16)
        except ValueError:
            raise BadInput(f"is not a {key}: {word!r}", where=found.where) from None
    if bits.bit_length() > _MOST_CPUS:
        raise BadInput(f"{key} has more than {_MOST_CPUS} CPUs", where=found.where)
    return tuple(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)
