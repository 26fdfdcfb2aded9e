"""The first file system of a machine: enough to mount the real one, which is this machine's own.

Nothing is installed into an image: what a machine runs are this machine's programs, read by 9p.
The format is cpio's `newc` (Documentation/driver-api/early-userspace/buffer-format.rst).
"""

from __future__ import annotations

import stat
from collections.abc import Iterable
from pathlib import Path

from vas_tests.sriov.kernel import Kernel, read_module

_MODULES = ("virtio_pci", "virtio_console", "9pnet_virtio", "9p", "overlay", "virtio_blk", "ext4")
_DIRECTORIES = ("bin", "dev", "proc", "modules", "low", "high", "root")
_INIT = Path(__file__).with_name("init.sh")
_MAGIC = "070701"


def pack(kernel: Kernel, busybox: Path) -> bytes:
    """Returns the archive (cpio): `init.sh`, a static busybox, and modules for the mounts."""
    modules = [read_module(file) for file in kernel.modules(*_MODULES)]
    order = "".join(f"{name}\n" for name, _ in modules)
    directory, program, data = stat.S_IFDIR | 0o755, stat.S_IFREG | 0o755, stat.S_IFREG | 0o644
    entries = [(name, directory, b"") for name in _DIRECTORIES]
    entries += [(f"modules/{name}", data, code) for name, code in modules]
    entries += [
        ("modules/order", data, order.encode()),
        ("bin/busybox", program, busybox.read_bytes()),
        ("init", program, _INIT.read_bytes()),
        ("TRAILER!!!", 0, b""),
    ]
    return b"".join(_entries(entries))


def _entries(entries: Iterable[tuple[str, int, bytes]]) -> Iterable[bytes]:
    for inode, (name, mode, content) in enumerate(entries, start=1):
        raw = name.encode() + b"\0"
        # inode, mode, uid, gid, links, mtime, size, device (4), name's length, checksum
        fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(raw), 0)
        yield _padded((_MAGIC + "".join(f"{field:08x}" for field in fields)).encode() + raw)
        yield _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
