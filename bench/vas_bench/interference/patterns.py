"""What is held against what: the arms, the clients' patterns, the paper's figures. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ArmName = Literal["alone", "host", "guest"]
Direction = Literal["read", "write"]

ALONE: ArmName = "alone"
# Name -> what a reader is told of it.
ARMS: dict[ArmName, str] = {
    "alone": "the storage service's clients alone; YARN's daemons idle",
    "host": "TeraSort in a loop beside them, on the host as any other process",
    "guest": "the same in a cgroup as large as the guests: their memory, their CPUs",
}


@dataclass(frozen=True)
class Pattern:
    """How clients read or write; `rw` is fio's word for it."""

    name: str
    rw: str
    block: str
    direction: Direction


# The paper does not say how large IOzone's records were. Sequential ones are a bulk RPC's size.
PATTERNS = (
    Pattern("sequential read", "read", "1M", "read"),
    Pattern("random read", "randread", "64K", "read"),
    Pattern("sequential write", "write", "1M", "write"),
    Pattern("random write", "randwrite", "64K", "write"),
)
PATTERN_NAMES = tuple(pattern.name for pattern in PATTERNS)

# Xu's dissertation, section 4.3.1.3 and figure 4.12: 8 storage servers, IOzone from other
# machines, 100 TeraSorts one after another. It gives two numbers, and words for the rest; neither
# runs nor intervals.
_PAPER: dict[tuple[str, str], str] = {
    ("sequential read", "host"): "-11.9 %",
    ("random read", "host"): "-15.2 %",
    ("sequential read", "guest"): "negligible",
    ("random read", "guest"): "negligible",
}


def paper(pattern: str, arm: str) -> str:
    """What the paper says of the bandwidth in an arm, over that alone; of writes: comparable."""
    return _PAPER.get((pattern, arm), "comparable")


SHOWN = (
    "shown: what YARN takes from a storage service by sharing its CPUs, its page cache and its"
    " disk's queue, and what of it a guest's limits of memory and CPU give back",
    "not shown: what a hypervisor costs, virtio's queues, NICs and a switch, OSTs on several"
    " disks, Lustre's own threads and locks: all arms share one kernel and one disk, and fio is"
    " client and storage server in one, at the speed of memory where a network would be slower",
)
