"""Finds the disk below a block device: below partitions, LVM, multipath, RAID and loops."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from vas_affinity.machine.block_names import short_name
from vas_affinity.machine.reading.files import TreeFiles

_BLOCK = "sys/class/block"
_NUMBER = re.compile(r"\d+:\d+")
_DEPTH = 8  # a file system on LVM on LUKS on RAID on partitions has five layers


@dataclass(eq=False)
class BlockDevices:
    """The block devices of a machine, as sysfs has them."""

    files: TreeFiles

    @cached_property
    def _mapped(self) -> dict[str, str]:
        """Returns the names of /dev/mapper and of LVM -> `dm-N`."""
        found: dict[str, str] = {}
        for name in self.files.names(_BLOCK):
            called = self.files.text(f"{_BLOCK}/{name}/dm/name") if name.startswith("dm-") else None
            if called:
                found[called] = name
                uuid = self.files.text(f"{_BLOCK}/{name}/dm/uuid") or ""
                if uuid.startswith("LVM-"):
                    found[_logical(called)] = name
        return found

    def disks(self, name: str, depth: int = _DEPTH) -> set[str]:
        """Returns the disks below a device, by its name, its path in /dev or its number `8:16`.

        Empty for what is not known, and for what is not on a disk.
        """
        if depth == 0:
            return set()
        if _NUMBER.fullmatch(name):
            link = self.files.link(f"sys/dev/block/{name}")
            return set() if link is None else self.disks(link, depth - 1)
        name = short_name(name)
        name = self._mapped.get(name, name)
        if name not in self._all:
            return set()
        below = self.files.names(f"{_BLOCK}/{name}/slaves")
        if below:
            return {disk for slave in below for disk in self.disks(slave, depth - 1)}
        whole = self._all[name]
        return {whole}

    def aliases(self, disks: set[str]) -> list[str]:
        """Returns `dm-N` and the names of /dev/mapper and LVM that are on one of these disks."""
        mapped = (*self._mapped.items(), *((dm, dm) for dm in self._mapped.values()))
        return sorted({alias for alias, name in mapped if self.disks(name) & disks})

    @cached_property
    def _all(self) -> dict[str, str]:
        """Returns each block device -> the whole disk that it is, or is a partition of."""
        links = dict(self.files.links(_BLOCK))
        parents = {name: target.parent.name for name, target in links.items()}
        return {name: up if (up := parents[name]) in links else name for name in links}


def _logical(mapped: str) -> str:
    """Returns `vg/lv` of LVM's mapped name, in which dashes of either are doubled: `my--vg-lv`."""
    group, _, volume = re.sub(r"(?<!-)-(?!-)", "/", mapped, count=1).partition("/")
    return "/".join(part.replace("--", "-") for part in (group, volume))
