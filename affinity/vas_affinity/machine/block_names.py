"""The names of block devices, as users write them. Pure."""

from __future__ import annotations

_NOT_LVM = ("mapper", "disk", "md")


def short_name(path: str) -> str:
    """Returns a device's name as a snapshot has it.

    `ost0` for /dev/mapper/ost0, `vg/lv` for /dev/vg/lv, `sda` for /dev/sda.
    """
    parts = path.removeprefix("/dev/").split("/")
    if len(parts) == 2 and parts[0] not in _NOT_LVM and path.startswith("/dev/"):
        return "/".join(parts)
    return parts[-1]
