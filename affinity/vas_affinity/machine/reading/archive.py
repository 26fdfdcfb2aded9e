"""Reads a captured tree from an archive into memory; nothing of it is ever written to disk."""

from __future__ import annotations

import errno
import lzma
import os
import re
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from vas_core.errors import BadInput

_MOST_BYTES = 256 << 20
_MOST_MEMBERS = 500_000
_MOST_LINKS = 40
# The kernel's PATH_MAX; a name in an archive may be of any length.
_LONGEST_NAME = 4096
_BROKEN = (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError)
_CPUS = "sys/devices/system/cpu/"
_USED = re.compile(
    r"sys/devices/system/(cpu|node)/|sys/devices/cpu_(atom|core)/cpus$|sys/kernel/mm/hugepages/"
    r"|sys/bus/(pci|virtio)/devices/|sys/class/(block|net|nvme|infiniband)/"
    r"|sys/devices/.*\.[0-9a-f]/(class|driver|numa_node|local_cpu|msi_irqs/|irq$)"
    r"|proc/(meminfo|interrupts|irq/)"
)
_UNUSED = re.compile(r"/memory\d+$|/(power|cpuidle|thermal_throttle|microcode)/")


@dataclass(frozen=True)
class TreeArchive:
    """The files and links of a tree by path, with the reading methods of `vas_core.root.Root`."""

    files: Mapping[str, bytes]
    targets: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def inside(self) -> dict[str, set[str]]:
        """Returns directory -> names in it."""
        inside: dict[str, set[str]] = {}
        for name in (*self.files, *self.targets):
            while name:
                parent, _, last = name.rpartition("/")
                inside.setdefault(parent, set()).add(last)
                name = parent
        return inside

    def read(self, relative: str) -> str | None:
        """Returns the text of a file without its last newline; None if there is no such file.

        Raises OSError for links in a circle.
        """
        content = self.files.get(self._real(relative))
        return None if content is None else content.decode(errors="surrogateescape").rstrip("\n")

    def names(self, relative: str) -> list[str]:
        """Returns the names in a directory, sorted; empty if there is no such directory.

        Raises OSError for links in a circle.
        """
        return sorted(self.inside.get(self._real(relative), ()))

    def link(self, relative: str) -> Path | None:
        """Returns the target of a link; None if it is not a link.

        Raises OSError for links in a circle.
        """
        parent, _, name = relative.rpartition("/")
        target = self.targets.get(f"{self._real(parent)}/{name}")
        return None if target is None else Path(target)

    def _real(self, path: str) -> str:
        """Follows the links of a path, never above the top. Raises OSError for a circle."""
        at: list[str] = []
        left, followed = path.split("/")[::-1], 0
        while left:
            part = left.pop()
            if part == "..":
                del at[-1:]
            if part in ("", ".", ".."):
                continue
            target = self.targets.get("/".join([*at, part]))
            if target is None:
                at.append(part)
                continue
            followed += 1
            if followed > _MOST_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            at = [] if target.startswith("/") else at
            left += target.split("/")[::-1]
        return "/".join(at)


def read_archive(path: Path) -> TreeArchive:
    """Returns the tree in a `.tar`, `.tar.gz`, `.tar.bz2` or `.tar.xz`, below any directory.

    Raises BadInput for an archive that is broken, has no tree, or is larger than a machine's.
    """
    files: dict[str, bytes] = {}
    targets: dict[str, str] = {}
    try:
        with tarfile.open(path) as archive:
            for member in _members(archive, path):
                if member.issym():
                    targets[member.name] = member.linkname
                elif member.isreg() and (stream := archive.extractfile(member)):
                    files[member.name] = stream.read()
    except _BROKEN as wrong:
        raise BadInput(f"is a broken archive: {wrong}", where=str(path)) from None
    tops = {name.partition(_CPUS)[0] for name in files if _CPUS in name}
    if not tops:
        raise BadInput(f"is not a captured tree: it lacks {_CPUS}", where=str(path))
    top = min(tops, key=len)
    return TreeArchive(
        {name.removeprefix(top): content for name, content in files.items()},
        {name.removeprefix(top): target for name, target in targets.items()},
    )


def _members(archive: tarfile.TarFile, path: Path) -> Iterator[tarfile.TarInfo]:
    total = 0
    for count, member in enumerate(archive):
        total += member.size
        if total > _MOST_BYTES or count > _MOST_MEMBERS:
            raise BadInput("is larger than any machine's tree", where=str(path))
        if len(member.name) > _LONGEST_NAME:
            continue
        if _USED.search(member.name) and not _UNUSED.search(member.name):
            yield member
