"""The command line of the QEMU that boots an image. Pure."""

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
class Boot:
    """What is booted, and the files that it is heard by.

    With `firmware` its own boot loader starts it, without, QEMU does: the kernel beside the disk.
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
        """All that it prints."""
        return self.work / "console"

    @property
    def verdict(self) -> Path:
        """Its verdict, JSON."""
        return self.work / "verdict"

    @property
    def agent(self) -> Path:
        """The socket of its guest agent."""
        return self.work / "agent"


def qemu_argv(boot: Boot) -> list[str]:
    """The image's disk is never written to; each of its NICs is on a hub where nobody listens."""
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


def _start(boot: Boot) -> list[str]:
    """By what it is started."""
    if boot.firmware:
        return list(firmware_words(boot.firmware))
    command_line = f"root={boot.image.root} rw {boot.image.kernel_command_line}"
    return kernel(boot.directory / KERNEL, boot.directory / INITRD, command_line)


def _nic(number: int, mac: str) -> Iterator[str]:
    yield from ("-netdev", f"hubport,id=hub{number},hubid={number}")
    # Or no packet would ever count as sent, and the NIC as stuck.
    yield from ("-netdev", f"hubport,id=nobody{number},hubid={number}")
    yield from ("-device", f"virtio-net-pci,netdev=hub{number},mac={mac}")
