"""Asks a storage server for its name, adapter, devices and size, by a command that reaches it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vas_core.errors import VasError

Ask = Callable[[Sequence[str]], str]
"""Runs a command on the server; returns its output. Raises VasError if it fails."""

_TARGET = re.compile(r"osd-\w+\.(\w+)-OST([0-9a-f]{4})\.mntdev=(\S+)")
# What the kernel takes as a name and a shell, at the other end of ssh, leaves alone.
_INTERFACE = re.compile(r"[\w.@:-]{1,15}")
_MEMORY = re.compile(r"MemTotal:\s+([0-9]+) kB")


@dataclass(frozen=True)
class SeenMachine:
    """The answers of a storage server. None or empty: it could not be read; `unseen` says why.

    `interface` is the adapter with the server's data address, `most_vfs` the number of virtual
    functions that it can have, `devices` are the block devices of the server's OSTs.
    """

    name: str | None = None
    interface: str | None = None
    most_vfs: int | None = None
    devices: tuple[str, ...] = ()
    memory_bytes: int | None = None
    cpus: int | None = None
    unseen: tuple[str, ...] = ()


def ask_server(ask: Ask, address: str, fsname: str) -> SeenMachine:
    """Asks a server through `ask`; each question that fails is a line of `unseen`.

    `address` is the server's on the data fabric; devices of other file systems are left out.
    """
    unseen: list[str] = []

    def told(what: str, *argv: str) -> str:
        try:
            return ask(argv)
        except VasError as wrong:
            unseen.append(f"{what}: {wrong}")
            return ""

    name = told("its name", "hostname", "-f").strip()
    if unseen:
        # It does not answer at all: each further question would wait as long.
        return SeenMachine(unseen=tuple(unseen))
    interface = interface_of(told("its adapter", "ip", "-json", "address"), address)
    totals = f"/sys/class/net/{interface}/device/sriov_totalvfs"
    vfs = told("its virtual functions", "cat", totals).strip() if interface else ""
    memory = _MEMORY.search(told("its memory", "cat", "/proc/meminfo"))
    devices = told("its block devices", "lctl", "get_param", "osd-*.*.mntdev")
    return SeenMachine(
        name=name or None,
        interface=interface,
        most_vfs=_number(vfs),
        devices=tuple(d for fs, _, d in _TARGET.findall(devices) if fs == fsname),
        memory_bytes=int(memory[1]) << 10 if memory else None,
        cpus=_number(told("its CPUs", "nproc", "--all")),
        unseen=tuple(unseen),
    )


def _number(text: str) -> int | None:
    return int(text) if text.strip().isdecimal() else None


def interface_of(text: str, address: str) -> str | None:
    """Returns the interface that has an address, from `ip -json address`.

    Returns None if no interface has it, if its name is not one that the kernel allows, and if the
    text is not such a document.
    """
    try:
        links = json.loads(text or "[]")
    except ValueError:
        return None
    for link in filter(_is_mapping, links if isinstance(links, list) else []):
        found = link.get("addr_info")
        addresses = filter(_is_mapping, found if isinstance(found, list) else [])
        if any(each.get("local") == address for each in addresses):
            name = str(link.get("ifname"))
            return name if _INTERFACE.fullmatch(name) else None
    return None


def _is_mapping(value: object) -> bool:
    return isinstance(value, dict)
