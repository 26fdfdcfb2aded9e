"""The settings of a plan for guests."""

from __future__ import annotations

from pydantic import Field

from vas_affinity.machine.block_names import short_name
from vas_affinity.machine.firing import SPREAD_SHARE
from vas_affinity.machine.topology import Frozen
from vas_cluster import Host


class GuestPlanSettings(Frozen):
    """Sets how much of a host its storage server (OSS) keeps, and how its cores are used.

    The OSS keeps `oss_share` of all cores, or the cores of its storage interrupts if those are
    more. In addition, `host_cores` are for the other work of the host. Each node keeps
    `oss_memory_share` of its memory for the OSS's page cache.
    """

    oss_share: float = Field(default=0.25, ge=0, le=0.9)
    host_cores: int = Field(default=1, ge=1)
    oss_memory_share: float = Field(default=0.25, ge=0, le=0.9)
    junk_siblings: bool = False
    """Leave the siblings of vCPUs' and storage interrupts' CPUs without work."""
    huge_pages: bool = True
    storage_devices: tuple[str, ...] = ()
    """The disks of the OSTs, `nvme0n1` or a PCI address; empty for all disks of the host."""
    spread_share: float = Field(default=SPREAD_SHARE, gt=0, le=1)
    """If a device has interrupts on more than this share of the cores, vCPUs cannot avoid them: its
    queues interrupt the CPU that submits I/O, so the submitters are kept together instead."""


def settings_of(host: Host, settings: GuestPlanSettings | None = None) -> GuestPlanSettings:
    """Returns the settings, or the defaults, with the storage devices of a host of the map."""
    names = tuple(map(short_name, host.storage_devices))
    return (settings or GuestPlanSettings()).model_copy(update={"storage_devices": names})
