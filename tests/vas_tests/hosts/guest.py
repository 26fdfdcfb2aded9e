"""A guest for libvirt on a host: an image that takes no time to boot, and settings without KVM."""

from __future__ import annotations

import json
from pathlib import Path

from vas_core.process import run
from vas_tests.kernel import halting_kernel

WORD = "halted"
DISKS = "/var/lib/vas-guests"
"""Where the map has the guest's disk; disks stay when the guest goes."""
# What a host without virtual functions is told of its guests.
SETTINGS: dict[str, object] = {
    "vas_storage_host_virtual_functions": False,
    "vas_guest_boot_timeout": 0,
    "vas_guest_settings": {
        "accelerator": "qemu",
        "authorized_keys": [],  # nobody logs in to what only halts
        "virtual_function": False,
        "memory_limit": False,  # it takes CAP_SYS_RESOURCE, which a container lacks
    },
}


def make_image(directory: Path) -> Path:
    """Makes a directory of files as `vas image build` names them, and returns it.

    Its kernel writes a word to the console and halts. Raises CommandFailed if qemu-img fails.
    """
    directory.mkdir()
    run(["qemu-img", "create", "-q", "-f", "qcow2", directory / "vas-guest.qcow2", "1M"])
    (directory / "vas-guest.vmlinuz").write_bytes(halting_kernel(WORD.encode()))
    for name in ("vas-guest.initrd", "SHA256SUMS"):
        (directory / name).write_text("{}\n")
    about = {"boots_by_itself": False, "kernel_command_line": "quiet"}
    (directory / "image.json").write_text(json.dumps(about) + "\n")
    return directory
