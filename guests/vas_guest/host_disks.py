"""Finds the files and devices of the disks of a storage server's virtual machines."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree as Xml

from vas_core.xmltree import parse_xml
from vas_guest.desired import DesiredGuest
from vas_guest.devices import refuse_foreign
from vas_guest.disks import bases, refuse_osts, refuse_others
from vas_guest.libvirt import GuestLibvirt


def refuse_disks(libvirt: GuestLibvirt, desired: DesiredGuest) -> None:
    """Raises BadInput for a disk of the guest that is somebody else's file or device."""
    refuse_osts(desired.host, desired.guest)
    refuse_others(desired.guest, _of_others(libvirt, desired))
    paths = [disk.path for disk in desired.guest.disks]
    refuse_foreign(paths, desired.settings, _of_definition(libvirt, desired))


def _of_definition(libvirt: GuestLibvirt, desired: DesiredGuest) -> list[str]:
    """Returns the files and devices of the disks with which the guest is defined now."""
    if desired.uuid not in libvirt.listed("list", "--all"):
        return []
    return [*_disks(libvirt, libvirt.machine(desired.uuid, "--inactive"))]


def _of_others(libvirt: GuestLibvirt, desired: DesiredGuest) -> dict[str, list[str]]:
    """Returns name -> disks of every other machine, both as it is defined and as it runs."""
    active = libvirt.listed("list")
    found: dict[str, list[str]] = {}
    for uuid, name in libvirt.machines():
        # A machine with the guest's name is refused for its name.
        if uuid != desired.uuid and name != desired.guest.name:
            machines = [libvirt.machine(uuid, "--inactive")]
            machines += [libvirt.machine(uuid)] if uuid in active else []
            found[name] = [path for one in machines for path in _disks(libvirt, one)]
            found[name] += [path for one in machines for path in _bases(libvirt, one)]
    return found


def _disks(libvirt: GuestLibvirt, machine: Xml.Element) -> Iterator[str]:
    """Yields the files and devices of a machine's disks, and of the bases that libvirt lists."""
    for source in machine.iterfind("devices/disk//source"):
        if path := _path(libvirt, source):
            yield path


def _bases(libvirt: GuestLibvirt, machine: Xml.Element) -> Iterator[str]:
    """Yields the bases of a machine's disks that the disks' headers name."""
    for disk in machine.iterfind("devices/disk"):
        source, driver = disk.find("source"), disk.find("driver")
        path = None if source is None else _path(libvirt, source)
        if path and driver is not None:
            yield from bases(path, driver.get("type", "raw"))


def _path(libvirt: GuestLibvirt, source: Xml.Element) -> str | None:
    return source.get("dev") or source.get("file") or _volume(libvirt, source)


def _volume(libvirt: GuestLibvirt, source: Xml.Element) -> str | None:
    """Returns the path of a volume of a libvirt pool; None if libvirt has no such pool."""
    pool, volume = source.get("pool"), source.get("volume")
    if pool is None or volume is None:
        return None
    if pool not in libvirt.listed("pool-list", "--all", "--name"):
        return None
    text = libvirt.do("pool-dumpxml", pool)
    path = parse_xml(text, where=f"virsh pool-dumpxml {pool}").findtext("target/path")
    return f"{path}/{volume}" if path else None
