"""Finds which disk or NIC a thread serves: by its name, or by the files that its process has open.

A process of several disks serves none in particular: null, as for one of which nothing is known.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from vas_affinity.machine.reading.disks import BlockDevices
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.snapshot import Interrupt, PciDevice, Thread, ThreadRole

_OF_BLOCK = re.compile(
    r"(?:jbd2|xfs[\w-]*|btrfs-[\w-]+|kdmflush|dmcrypt_write|ext4-[\w-]+|f2fs[\w-]*)/([\w:.-]+?)(?:-\d+)?$"
    r"|(md\d+)_\w+$|(loop\d+)$|(?:nvmet?_)?(nvme\d+)-?\w*$"
)
"""Kernel threads whose name ends in the block device that they serve."""
_OF_NETWORK = re.compile(r"napi/([\w.]+?)-\d+$")
_OF_INTERRUPT = re.compile(r"irq/(\d+)-")
_LEAST_BYTES = 1 << 20
_IO_ROLES = (ThreadRole.SERVICE, ThreadRole.STORAGE)
_CLONE = "/dev/net/tun"


@dataclass(frozen=True)
class Servers:
    """Finds the device that a thread serves among the machine's devices and interrupts."""

    files: TreeFiles
    devices: Sequence[PciDevice]
    interrupts: Sequence[Interrupt]

    def with_devices(self, threads: Iterable[Thread]) -> tuple[Thread, ...]:
        """Returns the threads with the devices that they serve, as far as that is known."""
        of_process = cache(self._of_files)
        blocks = BlockDevices(self.files)
        found = []
        for thread in threads:
            device = self._of_name(thread.name, blocks)
            if device is None and thread.role is ThreadRole.VHOST:
                device = self._of_taps(_owner(thread))
            elif device is None and (thread.role is ThreadRole.IOTHREAD or self._does_io(thread)):
                device = of_process(thread.pid, blocks)
            found.append(thread.model_copy(update={"device": device}) if device else thread)
        return tuple(found)

    def of_block(self, number: str) -> str | None:
        """Returns the device that a block device is on, by its number, `8:16`; None if there are
        several, or none."""
        return self._one({number: 1}, BlockDevices(self.files))

    def _of_name(self, name: str, blocks: BlockDevices) -> str | None:
        if match := _OF_INTERRUPT.match(name):
            owners = {line.number: line.device for line in self.interrupts}
            return self._known(owners.get(int(match[1])))
        if match := _OF_NETWORK.match(name):
            return self._known(match[1])
        if match := _OF_BLOCK.match(name):
            called = next(group for group in match.groups() if group)
            return self._one(Counter({called: 1}), blocks) or self._known(called)
        return None

    def _does_io(self, thread: Thread) -> bool:
        """Tells whether a thread has read from or written to disks."""
        if thread.role not in _IO_ROLES:
            return False
        text = self.files.text(f"proc/{thread.pid}/task/{thread.tid}/io") or ""
        said = dict(line.split(": ") for line in text.splitlines() if ": " in line)
        moved = int(said.get("read_bytes", "0")) + int(said.get("write_bytes", "0"))
        return moved >= _LEAST_BYTES

    def _of_files(self, pid: int, blocks: BlockDevices) -> str | None:
        mounts = self._mounts(pid)
        numbers: Counter[str] = Counter()
        for number, path in self._open(pid):
            if path.startswith("/dev/"):
                numbers[path] += 1
            elif where := mounts.get(self._told(pid, number, "mnt_id")):
                numbers[where] += 1
        return self._one(numbers, blocks)

    def _open(self, pid: int) -> Iterator[tuple[str, str]]:
        """Yields a process's open files: number and path."""
        for number, target in self.files.links(f"proc/{pid}/fd"):
            if str(target).startswith("/"):
                yield number, str(target)

    def _mounts(self, pid: int) -> Mapping[str, str]:
        """Returns mount id -> number of its block device, `8:1`."""
        text = self.files.text(f"proc/{pid}/mountinfo") or ""
        rows = [line.split() for line in text.splitlines()]
        return {row[0]: row[2] for row in rows if len(row) > 2}

    def _told(self, pid: int, number: str, key: str) -> str:
        text = self.files.text(f"proc/{pid}/fdinfo/{number}") or ""
        said = (line.partition(":") for line in text.splitlines())
        return next((value.strip() for name, _, value in said if name == key), "")

    def _one(self, numbers: Mapping[str, int], blocks: BlockDevices) -> str | None:
        """Returns the device of all these block devices; None if there are several, or none."""
        found = {self._known(disk) for name in numbers for disk in blocks.disks(name)}
        return found.pop() if len(found) == 1 else None

    def _of_taps(self, pid: int) -> str | None:
        """Returns the NIC that the bridges of a process's taps lead to; None without one."""
        taps = [self._told(pid, n, "iff") for n, path in self._open(pid) if path == _CLONE]
        nics = {nic for tap in taps if tap for nic in self._uplinks(tap)}
        found = {self._known(nic) for nic in nics} - {None}
        return found.pop() if len(found) == 1 else None

    def _uplinks(self, tap: str) -> list[str]:
        bridge = self.files.link(f"sys/class/net/{tap}/master")
        ports = self.files.names(f"sys/class/net/{bridge}/brif") if bridge else []
        return [port for port in ports if port != tap]

    def _known(self, name: str | None) -> str | None:
        """Returns the name that a device's interrupts use; None if no device is called so."""
        for device in self.devices:
            if name in (device.name, device.address, *device.names):
                return device.name
        return None


def _owner(thread: Thread) -> int:
    """Returns the QEMU process that a vhost thread serves: its name says it."""
    called = thread.name.rpartition("-")[2]
    return int(called) if called.isdecimal() else thread.pid
