"""The guests to plan for, with their vCPUs and memory."""

from __future__ import annotations

from pydantic import Field

from vas_affinity.machine.topology import Frozen
from vas_cluster import Guest, Host


class GuestRequest(Frozen):
    """A guest that needs cores. Without `memory_bytes` the plan assumes 1 GiB per vCPU.

    `iothreads` is the number of I/O threads to find CPUs for; the default is that of the map.
    """

    name: str = "guest"
    vcpus: int = Field(ge=1, le=1024)
    memory_bytes: int | None = Field(default=None, ge=1)
    iothreads: int = Field(default=Guest.model_fields["iothreads"].default, ge=0, le=16)


def requests_of(host: Host) -> tuple[GuestRequest, ...]:
    """Returns the requests of all guests of a host of cluster.yaml."""
    return tuple(
        GuestRequest(
            name=guest.name,
            vcpus=guest.vcpus,
            memory_bytes=guest.memory_bytes,
            iothreads=guest.iothreads,
        )
        for guest in host.guests
    )
