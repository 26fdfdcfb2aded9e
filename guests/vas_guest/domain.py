"""Makes a guest's libvirt domain from the map. Pure: the same map gives the same bytes.

The format is libvirt's (https://libvirt.org/formatdomain.html).
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree as Xml

from vas_cluster import Cluster, Guest
from vas_cluster.model import Disk
from vas_core.errors import BadInput
from vas_guest.memory import limit_bytes
from vas_guest.network import network_name
from vas_guest.settings import Accelerator, GuestSettings

_NAMESPACE = uuid.UUID("0b9d5c0e-52c4-5f0a-8f51-7c9a3f6a213d")
_KIB = 1024
# The elements of `vas affinity emit --as libvirt`, in the order of `virsh dumpxml`.
PLACED = ("memory", "memoryBacking", "vcpu", "iothreads", "cputune", "numatune", "cpu")


def guest_uuid(cluster: Cluster, guest: Guest) -> str:
    """Returns a guest's UUID, by site and name: a guest defined again stays the same to libvirt."""
    return str(uuid.uuid5(_NAMESPACE, f"{cluster.site}/{guest.name}"))


def seed_file(guest: Guest, settings: GuestSettings) -> str:
    """Returns the path of a guest's cloud-init seed on its host."""
    return f"{settings.seeds}/{guest.name}.iso"


def console_file(guest: Guest, settings: GuestSettings) -> str:
    """Returns the path of the log of a guest's console on its host."""
    return f"{settings.consoles}/{guest.name}-console.log"


def domain(
    cluster: Cluster, guest: Guest, settings: GuestSettings, placement: Xml.Element | None = None
) -> Xml.Element:
    """Returns a guest's domain. `placement` comes from `vas affinity emit PLAN --as libvirt`.

    Raises BadInput for a guest without a disk, or a placement of another guest or size.
    """
    placed = _placed(guest, placement)
    root = Xml.Element("domain", type=settings.accelerator)
    _leaf(root, "name", guest.name)
    _leaf(root, "uuid", guest_uuid(cluster, guest))
    root.extend(placed[tag] for tag in PLACED[:-1] if tag in placed)
    if settings.memory_limit:
        limit = limit_bytes(guest, settings) // _KIB
        _leaf(Xml.SubElement(root, "memtune"), "hard_limit", str(limit), unit="KiB")
    _os(root, settings)
    features = Xml.SubElement(root, "features")
    Xml.SubElement(features, "acpi")
    Xml.SubElement(features, "apic")
    root.append(_processor(placed["cpu"], settings.accelerator))
    _clock(root)
    for event, action in (("poweroff", "destroy"), ("reboot", "restart"), ("crash", "restart")):
        _leaf(root, f"on_{event}", action)
    _devices(Xml.SubElement(root, "devices"), cluster, guest, settings)
    return root


def to_text(element: Xml.Element) -> str:
    """Returns indented XML that ends with a newline."""
    Xml.indent(element)
    return Xml.tostring(element, encoding="unicode") + "\n"


def _placed(guest: Guest, placement: Xml.Element | None) -> dict[str, Xml.Element]:
    mine = _unplaced(guest)
    if placement is None:
        return mine
    if placement.findtext("name") != guest.name:
        what = f"places {placement.findtext('name')}, not {guest.name}"
        raise BadInput(what, where="--placement", hint="give `vas affinity emit` --guest")
    found = {element.tag: element for element in placement if element.tag in PLACED}
    for tag in ("memory", "vcpu", "iothreads"):
        desired = mine[tag].text
        placed = found[tag].get("current") or found[tag].text if tag in found else desired
        if placed != desired:
            hint = "make the plan again: `vas affinity plan --cluster FILE`"
            what = f"{tag} is {placed}, and {desired} in the map"
            raise BadInput(what, where=f"--placement of {guest.name}", hint=hint)
    return mine | found


def _unplaced(guest: Guest) -> dict[str, Xml.Element]:
    holder = Xml.Element("domain")
    _leaf(holder, "memory", str(guest.memory_bytes // _KIB), unit="KiB")
    _leaf(holder, "vcpu", str(guest.vcpus), placement="static")
    _leaf(holder, "iothreads", str(guest.iothreads))
    Xml.SubElement(holder, "cpu", mode="host-passthrough")
    return {element.tag: element for element in holder}


def _processor(placed: Xml.Element, accelerator: Accelerator) -> Xml.Element:
    if accelerator is Accelerator.KVM:
        return placed
    element = Xml.Element("cpu", mode="maximum")  # of what QEMU can emulate
    element.extend(placed)
    return element


def _os(root: Xml.Element, settings: GuestSettings) -> None:
    firmware = {} if settings.kernel else {"firmware": "efi"}
    system = Xml.SubElement(root, "os", firmware)
    _leaf(system, "type", "hvm", arch="x86_64", machine=settings.machine)
    if not settings.kernel:  # nobody signs the image's kernel
        features = Xml.SubElement(system, "firmware")
        Xml.SubElement(features, "feature", enabled="no", name="secure-boot")
    for tag, value in (
        ("kernel", settings.kernel),
        ("initrd", settings.initrd),
        ("cmdline", settings.kernel_command_line),
    ):
        if value:
            _leaf(system, tag, value)


def _clock(root: Xml.Element) -> None:
    clock = Xml.SubElement(root, "clock", offset="utc")
    Xml.SubElement(clock, "timer", name="rtc", tickpolicy="catchup")
    Xml.SubElement(clock, "timer", name="pit", tickpolicy="delay")
    Xml.SubElement(clock, "timer", name="hpet", present="no")


def _devices(devices: Xml.Element, cluster: Cluster, guest: Guest, settings: GuestSettings) -> None:
    if not guest.disks:
        hint = "give it a path and a size: its first disk is the image"
        raise BadInput("has no disk", where=f"{guest.name} in the map", hint=hint)
    threads = guest.iothreads
    devices.extend(_disk(n, disk, 1 + n % threads) for n, disk in enumerate(guest.disks))
    devices.append(_seed(guest, settings))
    host = cluster.host_by_guest(guest.name)
    assert host is not None, "a guest of the map has a host"
    if settings.virtual_function:
        devices.append(_virtual_function(guest, network_name(host), settings.vlan))
    elif settings.fabric_bridge:
        devices.append(_virtio_nic(guest.macs.vf, settings.fabric_bridge, settings.mtu))
    devices.append(_virtio_nic(guest.macs.virtio, host.nics.bridge, settings.mtu))
    devices.append(_console(console_file(guest, settings)))
    devices.extend(_small_devices())


def _disk(number: int, disk: Disk, iothread: int) -> Xml.Element:
    """Makes a disk that bypasses the storage server's page cache, on an I/O thread of the guest."""
    is_device = disk.path.startswith("/dev/")
    form = "qcow2" if disk.path.endswith(".qcow2") else "raw"
    element = Xml.Element("disk", type="block" if is_device else "file", device="disk")
    driver = {"name": "qemu", "type": form, "cache": "none", "io": "native", "discard": "unmap"}
    Xml.SubElement(element, "driver", driver | {"iothread": str(iothread)})
    Xml.SubElement(element, "source", {"dev" if is_device else "file": disk.path})
    Xml.SubElement(element, "target", dev=f"vd{_letters(number)}", bus="virtio")
    return element


def _letters(number: int) -> str:
    """Returns the letters of a disk's number: 0 -> a, 25 -> z, 26 -> aa."""
    head, last = divmod(number, 26)
    return (_letters(head - 1) if head else "") + chr(ord("a") + last)


def _seed(guest: Guest, settings: GuestSettings) -> Xml.Element:
    element = Xml.Element("disk", type="file", device="cdrom")
    Xml.SubElement(element, "driver", name="qemu", type="raw")
    Xml.SubElement(element, "source", file=seed_file(guest, settings))
    Xml.SubElement(element, "target", dev="sda", bus="sata")
    Xml.SubElement(element, "readonly")
    return element


def _virtual_function(guest: Guest, network: str, vlan: int | None) -> Xml.Element:
    """Makes an interface with a free VF of the pool; libvirt sets its MAC and VLAN."""
    element = Xml.Element("interface", type="network")
    Xml.SubElement(element, "mac", address=guest.macs.vf)
    Xml.SubElement(element, "source", network=network)
    if vlan:
        Xml.SubElement(Xml.SubElement(element, "vlan"), "tag", id=str(vlan))
    return element


def _virtio_nic(mac: str, bridge: str, mtu: int | None) -> Xml.Element:
    element = Xml.Element("interface", type="bridge")
    Xml.SubElement(element, "mac", address=mac)
    Xml.SubElement(element, "source", bridge=bridge)
    Xml.SubElement(element, "model", type="virtio")
    if mtu:
        Xml.SubElement(element, "mtu", size=str(mtu))
    return element


def _console(log: str) -> Xml.Element:
    """Makes a console for `virsh console`, with a log for guests that do not boot.

    virtlogd limits the log's size.
    """
    console = _device("console", {"type": "pty"})
    Xml.SubElement(console, "log", file=log, append="on")
    Xml.SubElement(console, "target", type="serial", port="0")
    return console


def _small_devices() -> Iterator[Xml.Element]:
    """Yields guest agent, random numbers and watchdog; no balloon: a VF pins all memory."""
    agent = _device("channel", {"type": "unix"})
    Xml.SubElement(agent, "target", type="virtio", name="org.qemu.guest_agent.0")
    yield agent
    random = _device("rng", {"model": "virtio"})
    _leaf(random, "backend", "/dev/urandom", model="random")
    yield random
    yield _device("watchdog", {"model": "i6300esb", "action": "reset"})
    yield _device("memballoon", {"model": "none"})


def _device(tag: str, attributes: Mapping[str, str]) -> Xml.Element:
    return Xml.Element(tag, dict(attributes))


def _leaf(parent: Xml.Element, tag: str, text: str, **attributes: str) -> None:
    Xml.SubElement(parent, tag, attributes).text = text
