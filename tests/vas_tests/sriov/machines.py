"""Makes the command lines of the rig's two QEMUs. Pure.

The host is emulated (TCG), on any machine. So is the AMD processor's virtualization that it sees,
and its KVM runs the guest by it: the guest's code is translated once, as the host's is. TCG inside
TCG would be some 20 times slower. This machine's own /dev/kvm is not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from vas_cluster import Guest
from vas_tests.sriov.kernel import Kernel

QEMU = "qemu-system-x86_64"
PF_MAC = "52:54:00:77:01:00"
_HOST_MIB = 1536
# x86-64-v2, which Python's libraries may want. No AVX: what uses it is slower when emulated.
_PROCESSOR = "qemu64,vendor=AuthenticAMD,+ssse3,+sse4.1,+sse4.2,+popcnt,+svm,+npt"
# TCG takes it for a broken clock otherwise, and there is nothing to mitigate.
_QUIET = "quiet mitigations=off tsc=reliable no_timer_check random.trust_cpu=on panic=-1"


@dataclass(frozen=True)
class Boot:
    """The kernel and initramfs that both machines boot with; `env` is given to /init."""

    kernel: Kernel
    initramfs: Path
    env: Mapping[str, str]


def host_argv(
    boot: Boot, host: str, channels: Mapping[str, int], wire: str, log: Path
) -> list[str]:
    """Returns the command line of the storage host: an igb adapter with SR-IOV behind an IOMMU.

    Its uplink is `wire`, a tap interface that QEMU makes where it runs. `channels` is virtio
    port -> descriptor of a socket.
    """
    return [
        *machine_words(boot, host, log, share=Path("/")),
        *("-machine", "q35,kernel-irqchip=split", "-cpu", _PROCESSOR, "-m", f"{_HOST_MIB}"),
        *("-accel", "tcg,thread=multi,tb-size=512"),
        *("-device", "intel-iommu,intremap=on"),
        *("-device", "virtio-serial-pci"),
        *(word for name, number in channels.items() for word in _socket_port(name, number)),
        *("-netdev", f"tap,id=wire,ifname={wire},script=no,downscript=no"),
        *("-device", "pcie-root-port,id=slot0,chassis=1"),
        *("-device", f"igb,bus=slot0,netdev=wire,mac={PF_MAC}"),
    ]


def emulated_argv(
    boot: Boot, name: str, channels: Mapping[str, int], mib: int, log: Path
) -> list[str]:
    """Returns the command line of a machine without an adapter; `channels` is as for `host_argv`.

    It has `mib` MiB of memory, and two processors.
    """
    return [
        *machine_words(boot, name, log, share=Path("/")),
        *("-machine", "q35", "-cpu", _PROCESSOR, "-m", f"{mib}", "-smp", "2"),
        *("-accel", "tcg,thread=multi,tb-size=512"),
        *("-device", "virtio-serial-pci"),
        *(word for port, number in channels.items() for word in _socket_port(port, number)),
    ]


def guest_argv(boot: Boot, guest: Guest, vf: str, tap: str, port: str) -> list[str]:
    """Returns the command line of the guest, which runs on the storage host.

    It gets a VF by its PCI address `vf`, a virtio NIC on the interface `tap`, and the host's
    virtio port `port` as its own.
    """
    memory = guest.memory_bytes >> 20
    return [
        *machine_words(boot, guest.name, Path(f"/run/{guest.name}.console"), share=Path("/mnt")),
        *("-machine", "q35", "-accel", "kvm", "-cpu", "host", "-m", f"{memory}"),
        *("-device", "virtio-serial-pci"),
        *("-chardev", f"pipe,id={guest.name},path={port}"),
        *("-device", f"virtserialport,chardev={guest.name},name={guest.name}"),
        *("-netdev", f"tap,id=tap,ifname={tap},script=no,downscript=no"),
        *("-device", f"virtio-net-pci,netdev=tap,mac={guest.macs.virtio}"),
        *("-device", "pcie-root-port,id=slot0,chassis=1"),
        *("-device", f"vfio-pci,bus=slot0,host={vf}"),
    ]


def machine_words(boot: Boot, name: str, log: Path, share: Path) -> Iterator[str]:
    """Yields QEMU's words for any machine: kernel, console in `log`, `share` as its root."""
    env = {"VAS_NODE": name, **boot.env}
    words = " ".join(f'"{key}={value}"' for key, value in env.items())
    yield from (QEMU, "-nodefaults", "-no-user-config", "-no-reboot", "-display", "none")
    yield from ("-kernel", str(boot.kernel.image), "-initrd", str(boot.initramfs))
    yield from ("-append", f"console=ttyS0 net.ifnames=0 intel_iommu=on iommu=pt {_QUIET} {words}")
    yield from ("-serial", f"file:{_escaped(log)}")
    share_options = "security_model=none,readonly=on,multidevs=remap"
    yield from ("-fsdev", f"local,id=root,path={share},{share_options}")
    yield from ("-device", "virtio-9p-pci,fsdev=root,mount_tag=root")


def _socket_port(name: str, number: int) -> Iterator[str]:
    yield from ("-chardev", f"socket,id={name},fd={number}")
    yield from ("-device", f"virtserialport,chardev={name},name={name}")


def _escaped(path: Path) -> str:
    """A path within a QEMU option, where a comma ends a value."""
    return str(path).replace(",", ",,")
