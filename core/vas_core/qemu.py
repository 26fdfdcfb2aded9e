"""Builds the parts of QEMU's command line that guests have in common. Pure but for `find_qemu`."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from vas_core.errors import NotHere

QEMU = ("qemu-system-x86_64", "/usr/libexec/qemu-kvm")
# TCG is taken for a broken clock otherwise, and there is nothing to mitigate.
_QUIET = "mitigations=off tsc=reliable no_timer_check random.trust_cpu=on panic=-1"


def find_qemu() -> str:
    """Returns the QEMU program, under Debian's name or Rocky's. Raises NotHere without one."""
    found = next((name for name in QEMU if shutil.which(name)), None)
    if found is None:
        hint = "install qemu-system-x86 (Rocky 9: qemu-kvm)"
        raise NotHere("QEMU is not installed", where=QEMU[0], hint=hint)
    return found


def machine(*, kvm: bool, memory_mib: int, cpus: int, translations_mib: int = 512) -> list[str]:
    """Returns the words of a PC with processors and memory only, which ends instead of restarting.

    Without KVM its processors are emulated; `translations_mib` limits the host's memory for
    translated code.
    """
    accelerator = "kvm" if kvm else f"tcg,thread=multi,tb-size={translations_mib}"
    return [
        *("-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"),
        *("-machine", "q35", "-accel", accelerator, "-cpu", "host" if kvm else "max"),
        *("-m", str(memory_mib), "-smp", str(cpus)),
    ]


def kernel(image: Path, initrd: Path, command_line: str) -> list[str]:
    """Returns the words that boot a kernel without a boot loader."""
    files = ("-kernel", str(image), "-initrd", str(initrd))
    return [*files, "-append", f"{command_line} {_QUIET}"]


def disk(name: str, file: Path, options: str) -> Iterator[str]:
    """Yields the words of a virtio disk."""
    yield from ("-drive", f"if=none,id={name},{options},file={escaped(file)}")
    yield from ("-device", f"virtio-blk-pci,drive={name}")


def port(name: str, identity: str, backend: str) -> Iterator[str]:
    """Yields the words of a virtio console port, by which programs in the guest speak to
    `backend`."""
    kind, _, rest = backend.partition(",")
    yield from ("-chardev", f"{kind},id={identity},{rest}")
    yield from ("-device", f"virtserialport,chardev={identity},name={name}")


def escaped(path: Path) -> str:
    """Returns a path within an option, where a comma would end the value."""
    return str(path).replace(",", ",,")
