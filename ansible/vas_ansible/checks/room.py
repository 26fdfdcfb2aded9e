"""Checks the disk space for guests' disks, and the memory for the ResourceManager's heaps."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping

from vas_ansible.checks.facts import MachineFacts
from vas_ansible.checks.finding import CheckFinding
from vas_cluster import Host
from vas_core.sizes import format_size, parse_size

IMAGE = "/var/lib/vas/image"
# As the units have it (yarn/systemd).
_HEAP_BYTES = 1 << 30
_DAEMONS = ("resourcemanager", "jobhistory")
# In addition to its heap a JVM has classes, threads and buffers.
_JVM_BYTES = 256 << 20
_MAXIMUM = re.compile(r"-Xmx(\d+[kmgKMG]?)")


def disks(host: Host, facts: MachineFacts, image_bytes: int) -> Iterator[CheckFinding]:
    """Finds new disks that, at their full size and next to the image, do not fit their file
    system."""
    wanted: dict[int, int] = defaultdict(int)
    free: dict[int, int] = {}
    found = {disk.path: parse_size(disk.size) for guest in host.guests for disk in guest.disks}
    for path, size_bytes in {**found, IMAGE: image_bytes}.items():
        place = facts.files.get(path)
        if place is None or place.there:
            continue
        if path.startswith("/dev/"):
            fix = "make that volume, and write the image to it; or correct the map"
            yield CheckFinding(host.name, "disk", f"has no {path}", fix)
            continue
        wanted[place.device] += size_bytes
        free[place.device] = place.free_bytes
    for device, size_bytes in wanted.items():
        if size_bytes > free[device]:
            what = f"guests' disks and their image need {format_size(size_bytes)}, "
            what += f"{format_size(free[device])} are free"
            fix = "put hosts[].guests[].disks on a larger file system, or make them smaller"
            yield CheckFinding(host.name, "disk", what, fix)


def heaps(node: str, facts: MachineFacts, given: Mapping[str, str]) -> Iterator[CheckFinding]:
    """Finds heaps that do not fit the ResourceManager's machine. `given`: daemon -> JVM options."""
    asked = sum(_heap_bytes(given.get(daemon, "")) + _JVM_BYTES for daemon in _DAEMONS)
    if asked > facts.memory_bytes:
        what = f"ResourceManager and history need {format_size(asked)} of "
        what += format_size(facts.memory_bytes)
        yield CheckFinding(node, "memory", what, "give the machine more, or lower vas_hadoop_heaps")


def _heap_bytes(options: str) -> int:
    said = _MAXIMUM.search(options)
    return parse_size(said[1]) if said else _HEAP_BYTES
