"""Reads storage and network devices on PCI, and the CPUs near them."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vas_affinity.machine.reading.disks import BlockDevices
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.snapshot import DeviceKind, PciDevice
from vas_affinity.machine.topology import MachineTopology

PCI = "sys/bus/pci/devices"
_ADDRESS = re.compile(r"[0-9a-f]{4,}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]")
_NVME = re.compile(r"(nvme\d+)(?:c\d+)?n\d+")
_VIRTIO = re.compile(r"(?<=/)virtio\d+(?=/)")
CLASSES = ("sys/class/block", "sys/class/nvme", "sys/class/net", "sys/class/infiniband")
_FIBRE_CHANNEL, _INFINIBAND = 0x0C04, 0x0C06


def read_devices(files: TreeFiles, topology: MachineTopology) -> tuple[PciDevice, ...]:
    """Returns the machine's storage and network devices, in order of their addresses."""
    addresses = files.names(PCI)
    if not addresses:
        files.note("devices", f"{PCI} is not there: storage and network are not known")
    names = names_by_device(files)
    devices = (_read(files, address, names.get(address, ()), topology) for address in addresses)
    blocks = BlockDevices(files)
    return tuple(_with_aliases(device, blocks) for device in devices if device)


def _with_aliases(device: PciDevice, blocks: BlockDevices) -> PciDevice:
    """Adds what /dev/mapper and LVM call what is on a storage device's disks."""
    if device.kind is not DeviceKind.STORAGE:
        return device
    more = blocks.aliases(set(device.names))
    return device.model_copy(update={"names": (*device.names, *more)}) if more else device


def _read(
    files: TreeFiles, address: str, names: Iterable[str], topology: MachineTopology
) -> PciDevice | None:
    at = f"{PCI}/{address}"
    code = files.number(f"{at}/class")
    if code is None or kind_of(code >> 8) is DeviceKind.OTHER:
        return None
    near = files.cpus(f"{at}/local_cpulist", f"{at}/local_cpus") or ()
    device = device_of((address, code >> 8, tuple(names)), near, topology)
    node = files.number(f"{at}/numa_node")
    known: dict[str, object] = {"driver": files.link(f"{at}/driver")}
    if device and node is not None and node >= 0:
        of_node = tuple(n for n in device.cpus if topology.cpu(n).node == node)
        known |= {"node": node, "cpus": of_node or device.cpus}
    return device and device.model_copy(update=known)


def device_of(
    pci: tuple[str, int, tuple[str, ...]], near: Iterable[int], topology: MachineTopology
) -> PciDevice | None:
    """Makes a device of its address, class (like 0x0108) and kernel names.

    None if it is neither for storage nor for a network.
    """
    address, code, names = pci
    kind = kind_of(code)
    if kind is DeviceKind.OTHER:
        return None
    online = set(topology.online)
    cpus = tuple(sorted(online.intersection(near))) or topology.online
    nodes = {topology.cpu(cpu).node for cpu in cpus}
    return PciDevice(
        name=name_of(names) or address,
        kind=kind,
        address=address,
        names=tuple(sorted(names)),
        node=nodes.pop() if len(nodes) == 1 else None,
        cpus=cpus,
    )


def kind_of(code: int) -> DeviceKind:
    """Returns the purpose of a PCI class and subclass (0x0108: NVMe)."""
    if code >> 8 == 1 or code == _FIBRE_CHANNEL:
        return DeviceKind.STORAGE
    return DeviceKind.NETWORK if code >> 8 == 2 or code == _INFINIBAND else DeviceKind.OTHER


def name_of(names: Iterable[str]) -> str | None:
    """Returns the name that a device's interrupts use: `nvme0`, not its disk `nvme0n1`."""
    return min((_controller(name) for name in names), default=None)


def address_in(path: str) -> str | None:
    """Returns the last device on a path in sys/devices: on PCI, or virtio without PCI."""
    found = _ADDRESS.findall(path) or _VIRTIO.findall(path)
    return found[-1] if found else None


def names_by_device(files: TreeFiles) -> dict[str, list[str]]:
    """Returns device -> names of its disks, interfaces and controllers.

    A device is named by its PCI address, or as virtio device if it is not on PCI.
    """
    names: dict[str, list[str]] = {}
    for directory in CLASSES:
        links = dict(files.links(directory))
        for name, target in links.items():
            address = address_in(str(target))
            if address and target.parent.name not in links:  # no partition of a disk
                names.setdefault(address, []).append(name)
    return names


def _controller(name: str) -> str:
    match = _NVME.fullmatch(name)
    return match[1] if match else name
