"""Finds the UEFI firmware (OVMF) for an image that has a boot loader of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import NotHere
from vas_core.qemu import escaped
from vas_core.root import Root


@dataclass(frozen=True)
class Firmware:
    """The files of a firmware: its code, and the initial values of its variables."""

    code: Path
    variables: Path


# Debian's package ovmf, and edk2-ovmf of Rocky and Fedora. The latter's variables have no keys, so
# no signature is required. packages.tsv probes the same files.
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
    """Returns the firmware of this machine. Raises NotHere if there is none."""
    for one in FIRMWARES:
        files = (one.code, one.variables)
        if all(root.path(str(file).lstrip("/")).is_file() for file in files):
            return one
    hint = "install ovmf (Rocky 9: edk2-ovmf), or boot the kernel next to the disk with --direct"
    raise NotHere("no UEFI firmware is installed", where=str(FIRMWARES[0].code), hint=hint)


def firmware_words(firmware: Firmware) -> Iterator[str]:
    """Yields QEMU's words for a firmware; changes of its variables are dropped."""
    code, variables = escaped(firmware.code), escaped(firmware.variables)
    yield from ("-drive", f"if=pflash,unit=0,format=raw,readonly=on,file={code}")
    yield from ("-drive", f"if=pflash,unit=1,format=raw,snapshot=on,file={variables}")
