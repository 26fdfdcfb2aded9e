"""Writes a guest's placement as libvirt's domain XML."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.placement import GuestMemory, GuestShape, HostPlacement, PinTarget
from vas_affinity.plan.emit.guests import guests_of, memory_of, pins_of, shape_of

_KIB = 1024


def domain_elements(placement: HostPlacement, guest: str) -> list[Xml.Element]:
    """Returns the elements of `<domain>` that place a guest, in the order of `virsh dumpxml`.

    Raises BadInput for a guest that is not in the plan.
    """
    guests_of(placement, guest)
    shape, memory = shape_of(placement, guest), memory_of(placement, guest)
    elements = _memory(memory) if memory else []
    elements += [_vcpu(shape), _leaf("iothreads", str(shape.iothreads))]
    elements.append(_cputune(placement, guest))
    if memory and memory.nodes:
        elements.append(_numatune(shape, memory))
    return [*elements, _cpu(shape)]


def domain_xml(placement: HostPlacement, guest: str) -> str:
    """Returns a `<domain>` of the guest with only these elements, to merge into a whole one."""
    domain = Xml.Element("domain", type="kvm")
    domain.append(_leaf("name", guest))
    domain.extend(domain_elements(placement, guest))
    Xml.indent(domain)
    return Xml.tostring(domain, encoding="unicode")


def _leaf(tag: str, text: str, **attributes: str) -> Xml.Element:
    element = Xml.Element(tag, attributes)
    element.text = text
    return element


def _memory(memory: GuestMemory) -> list[Xml.Element]:
    elements = [_leaf("memory", str(-(-memory.memory_bytes // _KIB)), unit="KiB")]
    if memory.page_bytes:
        backing = Xml.Element("memoryBacking")
        pages = Xml.SubElement(backing, "hugepages")
        Xml.SubElement(pages, "page", size=str(memory.page_bytes // _KIB), unit="KiB")
        elements.append(backing)
    return elements


def _vcpu(shape: GuestShape) -> Xml.Element:
    seen = shape.sockets * shape.cores * shape.threads
    current = {"current": str(shape.vcpus)} if seen != shape.vcpus else {}
    return _leaf("vcpu", str(seen), placement="static", **current)


def _cputune(placement: HostPlacement, guest: str) -> Xml.Element:
    tune = Xml.Element("cputune")
    for pin in pins_of(placement, PinTarget.VCPU, guest):
        Xml.SubElement(tune, "vcpupin", vcpu=pin.name, cpuset=format_cpulist(pin.cpus))
    for pin in pins_of(placement, PinTarget.EMULATOR, guest):
        Xml.SubElement(tune, "emulatorpin", cpuset=format_cpulist(pin.cpus))
    for pin in pins_of(placement, PinTarget.IOTHREAD, guest):
        Xml.SubElement(tune, "iothreadpin", iothread=pin.name, cpuset=format_cpulist(pin.cpus))
    return tune


def _numatune(shape: GuestShape, memory: GuestMemory) -> Xml.Element:
    mode = "strict" if memory.strict else "preferred"
    tune = Xml.Element("numatune")
    Xml.SubElement(tune, "memory", mode=mode, nodeset=format_cpulist(memory.nodes))
    for number, cell in enumerate(shape.cells):
        Xml.SubElement(tune, "memnode", cellid=str(number), mode=mode, nodeset=str(cell.node))
    return tune


def _cpu(shape: GuestShape) -> Xml.Element:
    cpu = Xml.Element("cpu", mode="host-passthrough")
    sizes = {"sockets": shape.sockets, "cores": shape.cores, "threads": shape.threads}
    Xml.SubElement(cpu, "topology", {name: str(size) for name, size in sizes.items()})
    if shape.cells:
        numa = Xml.SubElement(cpu, "numa")
        for number, cell in enumerate(shape.cells):
            cpus, size = format_cpulist(_slots(shape, number)), str(cell.memory_bytes // _KIB)
            Xml.SubElement(numa, "cell", id=str(number), cpus=cpus, memory=size, unit="KiB")
    return cpu


def _slots(shape: GuestShape, number: int) -> tuple[int, ...]:
    """Returns a cell's vCPUs; the last cell also gets those of the topology the guest lacks."""
    missing = range(shape.vcpus, shape.sockets * shape.cores * shape.threads)
    last = number == len(shape.cells) - 1
    return (*shape.cells[number].vcpus, *(missing if last else ()))
