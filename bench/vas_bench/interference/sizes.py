"""Computes the sizes of host, guest and clients' files: a small storage server. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vas_lab.sites import memory_needed

# The paper's machines have 8 GB, and their guests 6 at most.
_HOST_OVER_GUEST = 8 / 6
# Of what the guest leaves the host: the clients' files fit into the page cache beside a guest.
_FILES_SHARE = 0.75
# What a storage server keeps, as `vas affinity plan` has it.
_SERVERS_CPU_SHARE = 0.25
_MIB = 1 << 20


@dataclass(frozen=True)
class HostSizes:
    """Bytes of the whole host, of its guest, and of all files of the clients; the guest's CPUs."""

    host_bytes: int
    guest_bytes: int
    files_bytes: int
    guest_cpus: int


def sizes(guests: int, processors: int) -> HostSizes:
    """Returns the sizes of a machine that holds a lab's guests as if they were one.

    The guest has what all containers and NodeManagers may use, and all CPUs but a quarter, at
    least one, which are the storage server's.
    """
    guest = memory_needed(guests) - memory_needed(0)
    host = math.ceil(guest * _HOST_OVER_GUEST / _MIB) * _MIB
    files = int((host - guest) * _FILES_SHARE) // _MIB * _MIB
    kept = max(1, math.ceil(processors * _SERVERS_CPU_SHARE))
    return HostSizes(host, guest, files, max(1, processors - kept))
