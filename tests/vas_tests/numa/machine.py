"""Boots the NUMA machine: QEMU's TCG, an NVMe disk and a NIC behind a PCI host bridge of node 1."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from vas_core.errors import VasError
from vas_core.polling import poll
from vas_tests.numa.agent import EXPERIMENT, RESULT
from vas_tests.sriov.initramfs import pack
from vas_tests.sriov.kernel import newest_kernel
from vas_tests.sriov.machines import QEMU, Boot, machine_words

_AGENT = Path(__file__).with_name("agent.py")
_CPUS = 16
_NODE_MIB = 768
_DISK_BYTES = 16 << 20


def missing() -> list[str]:
    """Returns what this machine lacks to boot the NUMA machine, with packages; empty if nothing."""
    programs = {QEMU: "qemu-system-x86", "busybox": "busybox-static", "modprobe": "kmod"}
    lacking = [f"{p} (package {of})" for p, of in programs.items() if shutil.which(p) is None]
    if newest_kernel() is None:
        lacking.append("a kernel in /boot (package linux-image-amd64)")
    return lacking


def argv(boot: Boot, disk: Path, log: Path) -> list[str]:
    """Returns QEMU's command line of the NUMA machine; its second node has the disk and the NIC."""
    half = _CPUS // 2
    words = [*machine_words(boot, "numa", log, share=Path("/"))]
    # In one thread: in several, QEMU 10 can abort on a busy machine, when one processor maps a
    # device's memory while another uses its TLB (`iotlb_to_section: Assertion ... failed`).
    words += ["-machine", "q35", "-accel", "tcg,thread=single,tb-size=512"]
    words += ["-cpu", "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt", "-m", str(2 * _NODE_MIB)]
    words += ["-smp", f"{_CPUS},sockets=2,cores={half},threads=1"]
    for node in (0, 1):
        cpus = f"{node * half}-{node * half + half - 1}"
        words += ["-object", f"memory-backend-ram,id=m{node},size={_NODE_MIB}M"]
        words += ["-numa", f"node,nodeid={node},cpus={cpus},memdev=m{node}"]
    words += ["-device", "pxb-pcie,id=far,bus=pcie.0,bus_nr=32,numa_node=1"]
    words += ["-drive", f"if=none,id=disk,format=raw,file={disk}"]
    for chassis, device in ((1, "nvme,drive=disk,serial=vas"), (2, "e1000e")):
        words += ["-device", f"pcie-root-port,id=port{chassis},bus=far,chassis={chassis}"]
        words += ["-device", f"{device},bus=port{chassis}"]
    return words


def run_inside(directory: Path, timeout_seconds: float, *, experiment: str = "") -> dict[str, Any]:
    """Boots the NUMA machine, lets its agent work, and returns the agent's JSON.

    With options of `vas affinity experiment` the agent runs that, and its JSON is returned.
    Raises VasError with the end of the console if the machine takes too long, or ends without a
    result.
    """
    kernel, busybox = newest_kernel(), shutil.which("busybox")
    assert kernel and busybox, "`missing` says so"
    log, disk, initramfs = (directory / name for name in ("console", "disk", "initramfs.cpio"))
    log.touch()
    with disk.open("wb") as file:
        file.truncate(_DISK_BYTES)
    initramfs.write_bytes(pack(kernel, Path(busybox)))
    env = {"VAS_PYTHON": sys.executable, "VAS_AGENT": str(_AGENT), EXPERIMENT: experiment}
    boot = Boot(kernel, initramfs, env)
    with subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", *argv(boot, disk, log)], stdin=subprocess.DEVNULL
    ) as machine:
        try:
            poll(machine.poll, lambda status: status is not None, timeout_seconds, "its end")
        except VasError as late:
            raise VasError(f"{late}\n{_tail(log)}", where="numa") from late
        finally:
            machine.kill()
    lines = log.read_text(errors="replace").splitlines()
    found = [line.partition(RESULT)[2] for line in lines if RESULT in line]
    if not found:
        raise VasError(f"the agent said nothing:\n{_tail(log)}", where="numa")
    result: dict[str, Any] = json.loads(found[-1])
    return result


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-3000:]
