"""Reads a captured machine: a directory, an archive, lstopo's XML, or `show --json`'s output."""

from __future__ import annotations

import os
import tarfile
from collections.abc import Iterator
from pathlib import Path

from vas_affinity.machine.reading.archive import read_archive
from vas_affinity.machine.reading.host import read_snapshot
from vas_affinity.machine.reading.lstopo import read_lstopo
from vas_affinity.machine.snapshot import Snapshot, Unread
from vas_affinity.machine.topology import MachineTopology
from vas_core.documents import parse_json
from vas_core.errors import BadInput
from vas_core.reading import read_limited
from vas_core.root import Root

_FORMS = (
    "give a captured tree (a directory or .tar.bz2), lstopo's XML or `vas affinity show --json`"
)
_MOST_BYTES = 64 << 20
_NOT_IN_XML = ("isolated CPUs", "interrupts", "guests", "threads")


def read_source(path: Path) -> Snapshot:
    """Returns the captured machine, named after its file. Raises BadInput that names the file."""
    if path.is_dir():
        return _tree(path, path.name or "root")
    if not path.is_file():
        raise BadInput("no such file or directory", where=str(path), hint=_FORMS)
    name = path.name.split(".tar")[0].removesuffix(".xml").removesuffix(".json")
    if path.stat().st_size > _MOST_BYTES:
        raise BadInput("is not a topology: it is too large", where=str(path), hint=_FORMS)
    if _is_archive(path):
        return read_snapshot(read_archive(path), name=name)
    return _text(path, name)


def _text(path: Path, name: str) -> Snapshot:
    content = read_limited(path, _MOST_BYTES)
    start = content.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"{":
        return _json(content, path)
    if start != b"<":
        raise BadInput("is not a topology", where=str(path), hint=_FORMS)
    topology, devices = read_lstopo(content, str(path))
    absent = _NOT_IN_XML if devices else ("devices", *_NOT_IN_XML)
    unread = tuple(Unread(what=what, why="lstopo's XML has none") for what in absent)
    named = topology.model_copy(update={"name": name})
    return Snapshot(host=name, topology=named, devices=devices, unread=unread)


def _json(content: bytes, path: Path) -> Snapshot:
    snapshot = parse_json(content, Snapshot, kind="snapshot", where=str(path), hint=_FORMS)
    strange = _strange(snapshot.topology)
    if strange:
        raise BadInput(f"is not a snapshot: {strange}", where=str(path), hint=_FORMS)
    return snapshot


def _strange(topology: MachineTopology) -> str | None:
    """Returns what no machine has, and planners rely on; None if there is nothing wrong."""
    if not topology.online:
        return "it has no CPU that is online"
    known = topology.by_number
    if len(known) < len(topology.cpus):
        return "it has a CPU twice"
    for cpu in topology.cpus:
        groups = (cpu.package, cpu.die, cpu.l3, cpu.l2, cpu.core)
        if lost := [group for group in groups if group not in known]:
            return f"CPU {cpu.number} is in a group of CPU {lost[0]}, which is not there"
    return None


def _tree(directory: Path, name: str) -> Snapshot:
    for top in _tops(directory):
        if Root(top).names("sys/devices/system/cpu"):
            return read_snapshot(Root(top), name=name)
    what = "is not a captured tree: it lacks sys/devices/system/cpu"
    raise BadInput(what, where=str(directory), hint=_FORMS)


def _tops(directory: Path) -> Iterator[Path]:
    """Yields the directory and the directories one and two levels below it, without links."""
    level = [directory]
    for _ in range(3):
        yield from level
        level = sorted(
            Path(entry) for one in level for entry in os.scandir(one) if _is_own_directory(entry)
        )


def _is_own_directory(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False)


def _is_archive(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except (OSError, EOFError):
        return False
