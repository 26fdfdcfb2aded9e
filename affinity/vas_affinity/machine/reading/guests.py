"""Reads guests from libvirt by `virsh`, and finds their threads by the names QEMU gives them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from xml.etree.ElementTree import Element

from vas_affinity.machine.block_names import short_name
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.procfs import RunningProcess, ThreadSample, tasks
from vas_affinity.machine.reading.threads import KnownThread, ordinals
from vas_affinity.machine.reading.virsh import Virsh
from vas_affinity.machine.snapshot import LibvirtGuest, ThreadRole
from vas_core.errors import BadInput, NotHere, VasError
from vas_core.xmltree import parse_xml

_VCPU = re.compile(r"CPU (\d+)/")
_IOTHREAD = re.compile(r"IO iothread(\d+)")
_VHOST = re.compile(r"vhost-(\d+)")
_MOST_THREADS = 8192
_UNITS = {"b": 1, "bytes": 1, "KB": 1000, "k": 1 << 10, "KiB": 1 << 10}
_UNITS |= {"MB": 10**6, "M": 1 << 20, "MiB": 1 << 20, "GB": 10**9, "G": 1 << 30, "GiB": 1 << 30}


def read_guests(files: TreeFiles, connect: str | None) -> tuple[LibvirtGuest, ...]:
    """Returns all guests that libvirt knows; none without libvirt, which is noted."""
    virsh = Virsh(connect)
    try:
        running, defined = (_names(virsh, *words) for words in ((), ("--all",)))
    except NotHere:
        files.note("guests", "virsh is not installed")
        return ()
    except VasError as wrong:
        files.note("guests", wrong.what)
        return ()
    guests = (_read(files, virsh, name, running=name in running) for name in defined)
    return tuple(guest for guest in guests if guest)


def parse_domain(xml: str | bytes, *, running: bool, where: str) -> LibvirtGuest:
    """Parses a guest from `virsh dumpxml`. Raises BadInput if it is not a libvirt domain."""
    domain = parse_xml(xml, where=where)
    if domain.tag != "domain":
        raise BadInput("is not a libvirt domain", where=where)
    try:
        return _guest_of(domain, running=running, where=where)
    except ValueError as wrong:
        raise BadInput(f"has a number that is none: {wrong}", where=where) from None


def _guest_of(domain: Element, *, running: bool, where: str) -> LibvirtGuest:
    name, vcpu = domain.findtext("name"), domain.find("vcpu")
    if not name or vcpu is None:
        raise BadInput("is not a libvirt domain", where=where)
    return LibvirtGuest(
        name=name,
        uuid=domain.findtext("uuid") or "",
        running=running,
        vcpus=_few(vcpu.get("current") or vcpu.text or 0),
        memory_bytes=_bytes(domain.find("memory")),
        iothreads=tuple(_iothreads(domain)),
        pins=_pins(name, domain),
        devices=tuple(filter(None, dict.fromkeys(_devices(domain)))),
    )


def threads_of(
    files: TreeFiles, guest: LibvirtGuest, running: Iterable[RunningProcess]
) -> list[KnownThread]:
    """Returns a guest's threads: those of its QEMU, and the kernel's vhost threads.

    The emulator's main thread is `GUEST/emulator`; its helpers, which come and go, are
    `GUEST/emulator/NAME/ORDINAL`. Empty, with a note, if no process belongs to the guest.
    """
    running = list(running)
    emulator = next((process for process in running if _is(process, guest)), None)
    if emulator is None:
        files.note(f"threads of guest {guest.name}", "no process has its UUID in its arguments")
        return []
    kernels = [process.pid for process in running if process.name == f"vhost-{emulator.pid}"]
    found = tasks(files, emulator.pid) + [task for pid in kernels for task in tasks(files, pid)]
    known = [*_named(guest, found, emulator.pid)]
    if not any(thread.role is ThreadRole.VCPU for thread in known):
        why = "QEMU does not name them: it runs without debug-threads=on"
        files.note(f"vCPU threads of guest {guest.name}", why)
    return known


def vcpus_of_others(
    files: TreeFiles, guest: LibvirtGuest, running: Iterable[RunningProcess]
) -> frozenset[int]:
    """Returns the CPUs to which vCPUs of other guests are pinned; libvirt is not asked.

    A vCPU that may run on every CPU is not pinned.
    """
    online = files.cpus("sys/devices/system/cpu/online") or ()
    others = [p for p in running if "-uuid" in p.arguments and not _is(p, guest)]
    allowed = [
        task.allowed
        for process in others
        for task in tasks(files, process.pid)
        if _VCPU.match(task.name)
    ]
    return frozenset(cpu for cpus in allowed if len(cpus) < len(online) for cpu in cpus)


def _named(guest: LibvirtGuest, found: Iterable[ThreadSample], main: int) -> Iterable[KnownThread]:
    others = []
    vhosts = 0
    for task in found:
        vcpu, iothread = _VCPU.match(task.name), _IOTHREAD.fullmatch(task.name)
        if vcpu:
            yield KnownThread(task, f"{guest.name}/vcpu/{vcpu[1]}", ThreadRole.VCPU, guest.name)
        elif iothread:
            yield KnownThread(
                task, f"{guest.name}/iothread/{iothread[1]}", ThreadRole.IOTHREAD, guest.name
            )
        elif _VHOST.fullmatch(task.name):
            yield KnownThread(task, f"{guest.name}/vhost/{vhosts}", ThreadRole.VHOST, guest.name)
            vhosts += 1
        elif task.tid == main:
            yield KnownThread(task, f"{guest.name}/emulator", ThreadRole.EMULATOR, guest.name)
        else:
            others.append((task, f"{guest.name}/emulator/{task.name}"))
    for task, key in ordinals(others):
        yield KnownThread(task, key, ThreadRole.EMULATOR, guest.name)


def _is(process: RunningProcess, guest: LibvirtGuest) -> bool:
    words = process.arguments
    return any(pair == ("-uuid", guest.uuid) for pair in pairwise(words))


def _names(virsh: Virsh, *words: str) -> list[str]:
    return sorted(filter(None, virsh.do("--readonly", "list", "--name", *words).splitlines()))


def _read(files: TreeFiles, virsh: Virsh, name: str, *, running: bool) -> LibvirtGuest | None:
    try:
        text = virsh.do("--readonly", "dumpxml", "--domain", name)
        return parse_domain(text, running=running, where=name)
    except VasError as wrong:
        files.note(f"guest {name}", wrong.what)
        return None


def _bytes(memory: Element | None) -> int:
    if memory is None:
        return 0
    return int(memory.text or 0) * _UNITS.get(memory.get("unit", "KiB"), 1 << 10)


def _iothreads(domain: Element) -> Iterable[int]:
    ids = [int(thread.get("id", "0")) for thread in domain.findall("iothreadids/iothread")]
    return ids or range(1, 1 + _few(domain.findtext("iothreads") or 0))


def _few(count: str | int) -> int:
    """Returns a number of threads. Raises ValueError for more than a guest can have."""
    if not 0 <= int(count) <= _MOST_THREADS:
        raise ValueError(f"{count} threads")
    return int(count)


def _devices(domain: Element) -> Iterable[str]:
    """Yields the PCI addresses given to a guest, its taps, and its disks' sources."""
    given = [*domain.findall("devices/hostdev"), *domain.findall("devices/interface")]
    for address in (one.find("source/address") for one in given):
        if address is not None and address.get("bus"):
            parts = [int(address.get(key, "0"), 0) for key in ("domain", "bus", "slot", "function")]
            yield "{:04x}:{:02x}:{:02x}.{:x}".format(*parts)
    for tap in domain.findall("devices/interface/target"):
        yield tap.get("dev", "")
    for source in domain.findall("devices/disk/source"):
        yield short_name(source.get("dev") or "") or source.get("file") or ""


def _pins(name: str, domain: Element) -> dict[str, str]:
    pins = {}
    for pin in domain.findall("cputune/*"):
        keys = {
            "vcpupin": f"{name}/vcpu/{pin.get('vcpu')}",
            "emulatorpin": f"{name}/emulator",
            "iothreadpin": f"{name}/iothread/{pin.get('iothread')}",
        }
        if pin.tag in keys:
            pins[keys[pin.tag]] = pin.get("cpuset", "")
    return pins
