"""Finds what this machine lacks to run the rig."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from vas_core.process import run
from vas_tests.sriov.kernel import newest_kernel
from vas_tests.sriov.machines import QEMU

_PROGRAMS = {
    QEMU: "qemu-system-x86",
    "busybox": "busybox-static",
    "modprobe": "kmod",
    "ip": "iproute2",
    "setpriv": "util-linux",
}
_DYNAMIC = b"/lib64/ld-linux"


def missing() -> list[str]:
    """Returns each thing that is missing, with its package; empty if the rig can run."""
    return [*_missing_to_share(), *missing_to_boot()]


def missing_to_boot() -> Iterator[str]:
    """Yields each thing that is missing to boot a machine, with its package."""
    yield from _missing_programs()
    yield from _missing_kernel()


def _missing_to_share() -> Iterator[str]:
    if os.geteuid() != 0:
        yield "root, for namespaces and a tap interface"
    if not Path("/dev/net/tun").exists():
        yield "/dev/net/tun"
    if shutil.which(QEMU) and '"igb"' not in run([QEMU, "-device", "help"]).stdout:
        yield f"{QEMU} with igb: QEMU 8 (Debian 12 has it in backports)"


def _missing_programs() -> Iterator[str]:
    for program, package in _PROGRAMS.items():
        if shutil.which(program) is None:
            yield f"program {program} (package {package})"
    busybox = shutil.which("busybox")
    if busybox and _DYNAMIC in Path(busybox).read_bytes():
        yield "a static busybox (package busybox-static)"


def _missing_kernel() -> Iterator[str]:
    if newest_kernel() is None:
        yield "a readable kernel in /boot with igbvf (package linux-image-amd64)"
