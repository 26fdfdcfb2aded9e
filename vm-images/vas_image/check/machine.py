"""The command line of the QEMU that boots an image. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_image.image import DISK, INITRD, KERNEL, Image

QEMU = ("qemu-system-x86_64", "/usr/libexec/qemu-kvm")
VERDICT_PORT = "vas.verdict"
AGENT_PORT = "org.qemu.guest_agent.0"
# TCG is taken for a broken clock otherwise, and there is nothing to mitigate.
_QUIET = "mitigations=off tsc=reliable no_timer_check random.trust_cpu=on panic=-1"


@dataclass(frozen=True)
class Boot:
    """What is booted, and the files that it is heard by."""

    directory: Path
    image: Image
    seed: Path
    macs: tuple[str, ...]
    work: Path
    qemu: str = QEMU[0]
    kvm: bool = False
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
    accelerator = "kvm" if boot.kvm else "tcg,thread=multi,tb-size=512"
    append = f"root={boot.image.root} rw {boot.image.kernel_command_line} {_QUIET}"
    return [
        *(boot.qemu, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
        *("-machine", "q35", "-accel", accelerator, "-cpu", "host" if boot.kvm else "max"),
        *("-m", str(boot.memory_mib), "-smp", str(boot.cpus)),
        *("-kernel", str(boot.directory / KERNEL), "-initrd", str(boot.directory / INITRD)),
        *("-append", append),
        *_disk("disk", boot.directory / DISK, "format=qcow2,snapshot=on"),
        *_disk("seed", boot.seed, "format=raw,readonly=on"),
        *(word for number, mac in enumerate(boot.macs) for word in _nic(number, mac)),
        *("-device", "virtio-rng-pci", "-device", "virtio-serial-pci"),
        *_port(VERDICT_PORT, "verdict", f"file,path={_escaped(boot.verdict)}"),
        *_port(AGENT_PORT, "agent", f"socket,path={_escaped(boot.agent)},server=on,wait=off"),
        *("-serial", f"file:{_escaped(boot.console)}"),
    ]


def _nic(number: int, mac: str) -> Iterator[str]:
    yield from ("-netdev", f"hubport,id=hub{number},hubid={number}")
    # Or no packet would ever count as sent, and the NIC as stuck.
    yield from ("-netdev", f"hubport,id=nobody{number},hubid={number}")
    yield from ("-device", f"virtio-net-pci,netdev=hub{number},mac={mac}")


def _disk(name: str, file: Path, options: str) -> Iterator[str]:
    yield from ("-drive", f"if=none,id={name},{options},file={_escaped(file)}")
    yield from ("-device", f"virtio-blk-pci,drive={name}")


def _port(name: str, identity: str, backend: str) -> Iterator[str]:
    kind, _, rest = backend.partition(",")
    yield from ("-chardev", f"{kind},id={identity},{rest}")
    yield from ("-device", f"virtserialport,chardev={identity},name={name}")


def _escaped(path: Path) -> str:
    """A path within a QEMU option, where a comma ends a value."""
    return str(path).replace(",", ",,")
