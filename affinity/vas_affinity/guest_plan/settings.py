"""What a site may choose of a plan for guests."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field

from vas_affinity.topology import Frozen
from vas_cluster import Host


class GuestSettings(Frozen):
    """How much of a host its storage server keeps, and how its cores are used.

    Of all cores the OSS keeps `oss_share`, or the cores of its storage interrupts where those are
    more; beside them `host_cores` are for whatever else the host runs. Each node keeps
    `oss_memory_share` of its memory, for the OSS's page cache.
    """

    oss_share: float = Field(default=0.25, ge=0, le=0.9)
    host_cores: int = Field(default=1, ge=1)
    oss_memory_share: float = Field(default=0.25, ge=0, le=0.9)
    junk_siblings: bool = False
    """Leave the siblings of vCPUs and of storage interrupts without work."""
    huge_pages: bool = True
    storage_devices: tuple[str, ...] = ()
    """The disks under the OSTs, `nvme0n1` or a PCI address; empty for all that the host has."""
    spread_share: float = Field(default=0.5, gt=0, le=1)
    """Storage interrupts on more of the cores than this cannot be kept clear of: the queues of
    such devices fire where I/O is submitted, so the submitters are kept together instead."""


def settings_of(host: Host, settings: GuestSettings | None = None) -> GuestSettings:
    """Settings, the defaults if none are given, with the storage devices of a host of the map."""
    names = tuple(Path(device).name for device in host.storage_devices)
    return (settings or GuestSettings()).model_copy(update={"storage_devices": names})
