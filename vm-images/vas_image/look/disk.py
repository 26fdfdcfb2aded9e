"""Takes parts of an image's root file system out by debugfs. Mounts nothing."""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.process import run
from vas_core.root import Root

_SECTOR_BYTES = 512
_MAGIC_AT = 1024 + 56
_MAGIC = b"\x53\xef"
# _TREES and _TEXTS are copied as a whole; of the others only the names.
_TREES = ("/etc", "/root", "/home")
_DIRECTORIES = ("/usr/lib/vas/hadoop", "/usr/lib/vas/plugins", "/var/lib/cloud", "/var/log")
_TEXTS = ("/var/lib/vas/cds/hadoop.json",)
_FILES = (
    *("/var/lib/systemd/random-seed", "/var/lib/dbus/machine-id", "/usr/bin/vas-routed"),
    "/var/lib/vas/cds/hadoop.jsa",
)


@contextmanager
def opened(disk: Path) -> Iterator[Root]:
    """Copies the parts of a qcow2 disk that the rules need; yields them as a tree.

    A part that debugfs cannot read is missing in the tree. Raises BadInput for a disk without an
    ext4 file system, NotHere without qemu-img or debugfs, CommandFailed if qemu-img fails.
    """
    with tempfile.TemporaryDirectory(prefix="vas-look-", dir=disk.parent) as work:
        raw, tree = Path(work, "raw"), Path(work, "tree")
        run(["qemu-img", "convert", "-O", "raw", disk, raw])
        where = f"{raw}?offset={root_offset(raw)}"
        tree.mkdir()
        for path in (*_TREES, *_DIRECTORIES, *_TEXTS, *_FILES):
            _take_out(where, path, tree)
        yield Root(tree)


def root_offset(raw: Path) -> int:
    """Returns where the ext4 file system begins, in bytes: at 0, or at a partition's start.

    GPT's layout is that of UEFI 2.10, chapter 5.3. Raises BadInput if there is none.
    """
    with raw.open("rb") as disk:
        starts = [0]
        disk.seek(_SECTOR_BYTES)
        header = disk.read(_SECTOR_BYTES)
        if header.startswith(b"EFI PART"):
            first, count, size = struct.unpack_from("<QII", header, 72)
            disk.seek(first * _SECTOR_BYTES)
            entries = [disk.read(size) for _ in range(count)]
            sectors = [struct.unpack_from("<Q", entry, 32)[0] for entry in entries]
            starts = [sector * _SECTOR_BYTES for sector in sectors if sector]
        for start in starts:
            disk.seek(start + _MAGIC_AT)
            if disk.read(2) == _MAGIC:
                return start
    raise BadInput("has no ext4 file system", where=str(raw.name), hint="is it a guest image?")


def _take_out(where: str, path: str, tree: Path) -> None:
    """Copies a file or tree of the image, if it exists."""
    target = tree / path.lstrip("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    if path in _TREES:
        _debugfs(where, f"rdump {path} {target.parent}")
    elif path in _DIRECTORIES:
        listed = _debugfs(where, f"ls -p {path}")
        if not listed.strip():
            return
        target.mkdir(parents=True, exist_ok=True)
        # /inode/mode/uid/gid/name/size/
        rows = (line.split("/") for line in listed.splitlines() if line.startswith("/"))
        for name in (row[5] for row in rows if len(row) > 5):
            if name not in (".", ".."):
                (target / name).touch()
    elif path in _TEXTS:
        _debugfs(where, f"dump {path} {target}")
    elif "Inode:" in _debugfs(where, f"stat {path}"):
        target.touch()


def _debugfs(where: str, request: str) -> str:
    return run(["debugfs", "-R", request, where], check=False).stdout
