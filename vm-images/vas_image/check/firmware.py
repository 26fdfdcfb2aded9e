"""UEFI firmware (OVMF) for an image that has a boot loader of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import NotHere
from vas_core.qemu import escaped
from vas_core.root import Root


@dataclass(frozen=True)
class Firmware:
    """The firmware's code, and what its variables are at first."""

    code: Path
    variables: Path


# Debian's package ovmf; edk2-ovmf of Rocky and Fedora, whose variables have no keys: so nothing
# signed is asked for. packages.tsv probes the same.
FIRMWARES = (
    Firmware(
        Path("/usr/share/OVMF/OVMF_CODE_4M.fd"),
        Path("/usr/share/OVMF/OVMF_VARS_4M.fd"),
    ),
    Firmware(
        Path("/usr/share/edk2/ovmf/OVMF_CODE.secboot.fd"),
        Path("/usr/share/edk2/ovmf/OVMF_VARS.fd"),
    ),
)


def find_firmware(root: Root) -> Firmware:
    """The firmware that this machine has. Raises NotHere without one."""
    for one in FIRMWARES:
        files = (one.code, one.variables)
        if all(root.path(str(file).lstrip("/")).is_file() for file in files):
            return one
    hint = "install ovmf (Rocky 9: edk2-ovmf), or boot the kernel beside the disk with --direct"
    raise NotHere("no UEFI firmware is installed", where=str(FIRMWARES[0].code), hint=hint)


def firmware_words(firmware: Firmware) -> Iterator[str]:
    """QEMU's words for it; what it writes to its variables is forgotten."""
    code, variables = escaped(firmware.code), escaped(firmware.variables)
    yield from ("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}")
    yield from ("-drive", f"if=pflash,unit=1,format=raw,snapshot=on,file={variables}")
