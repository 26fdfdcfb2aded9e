"""Makes the command line of the QEMU that boots an image. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.qemu import QEMU, disk, escaped, kernel, machine, port
from vas_image.check.firmware import Firmware, firmware_words
from vas_image.image import DISK, INITRD, KERNEL, Image

VERDICT_PORT = "vas.verdict"
AGENT_PORT = "org.qemu.guest_agent.0"


@dataclass(frozen=True)
class QemuBoot:
    """An image to boot, its machine, and the files through which it reports.

    With `firmware`, the image's own boot loader starts it; without, QEMU starts the kernel next to
    the disk.
    """

    directory: Path
    image: Image
    seed: Path
    macs: tuple[str, ...]
    work: Path
    qemu: str = QEMU[0]
    kvm: bool = False
    firmware: Firmware | None = None
    memory_mib: int = 2048
    cpus: int = 2

    @property
    def console(self) -> Path:
        """Returns the file of its console's output."""
        return self.work / "console"

    @property
    def verdict(self) -> Path:
        """Returns the file of its verdict (JSON)."""
        return self.work / "verdict"

    @property
    def agent(self) -> Path:
        """Returns the socket of its guest agent."""
        return self.work / "agent"


def qemu_argv(boot: QemuBoot) -> list[str]:
    """Returns QEMU's command line.

    The image's disk is never written to; each NIC is on a hub where nobody listens.
    """
    return [
        boot.qemu,
        *machine(kvm=boot.kvm, memory_mib=boot.memory_mib, cpus=boot.cpus),
        *_start(boot),
        *disk("disk", boot.directory / DISK, "format=qcow2,snapshot=on"),
        *disk("seed", boot.seed, "format=raw,readonly=on"),
        *(word for number, mac in enumerate(boot.macs) for word in _nic(number, mac)),
        *("-device", "virtio-rng-pci", "-device", "virtio-serial-pci"),
        *port(VERDICT_PORT, "verdict", f"file,path={escaped(boot.verdict)}"),
        *port(AGENT_PORT, "agent", f"socket,path={escaped(boot.agent)},server=on,wait=off"),
        *("-serial", f"file:{escaped(boot.console)}"),
    ]


def _start(boot: QemuBoot) -> list[str]:
    """Returns the words that start it: the firmware's, or the kernel's."""
    if boot.firmware:
        return list(firmware_words(boot.firmware))
    command_line = f"root={boot.image.root} rw {boot.image.kernel_command_line}"
    return kernel(boot.directory / KERNEL, boot.directory / INITRD, command_line)


def _nic(number: int, mac: str) -> Iterator[str]:
    yield from ("-netdev", f"hubport,id=hub{number},hubid={number}")
    # Without this port no packet would count as sent, and the NIC would count as stuck.
    yield from ("-netdev", f"hubport,id=nobody{number},hubid={number}")
    yield from ("-device", f"virtio-net-pci,netdev=hub{number},mac={mac}")
