"""The arms and what comparing them shows, the clients' patterns, the paper's figures. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vas_bench.results.systems import Neighbour

ArmName = Neighbour
Direction = Literal["read", "write"]

ALONE: ArmName = "alone"
EMULATED: ArmName = "emulated"


@dataclass(frozen=True)
class Pattern:
    """A way in which clients read or write; `rw` is fio's word for it."""

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
    """Returns what the paper says of an arm's bandwidth over that alone; of writes: comparable."""
    return _PAPER.get((pattern, arm), "comparable")


@dataclass(frozen=True)
class Scope:
    """Texts for a reader: each arm, the arms that are not possible here, and what is compared."""

    arms: Mapping[ArmName, str]
    shown: tuple[str, ...]
    absent: Mapping[ArmName, str] = field(default_factory=dict)


LAB = Scope(
    arms={
        "alone": "the storage service's clients alone; YARN's daemons idle",
        "host": "TeraSort in a loop beside them, on the host as any other process",
        "guest": "the same in a cgroup as large as the guests: their memory, their CPUs",
    },
    shown=(
        "shown: what YARN takes from a storage service by sharing its CPUs, its page cache and its"
        " disk's queue, and what of it a guest's limits of memory and CPU give back",
        "not shown: what a hypervisor costs, virtio's queues, NICs and a switch, OSTs on several"
        " disks, Lustre's own threads and locks: all arms share one kernel and one disk, and fio is"
        " client and storage server in one, at the speed of memory where a network would be slower",
    ),
)
SITE = Scope(
    arms={
        "alone": "the storage service's clients alone; YARN's daemons idle in the guests",
        "guest": "TeraSort in a loop beside them, in the site's guests",
    },
    shown=(
        "shown: what a client of the site loses, of what the network and the servers give it"
        " without YARN; by O_DIRECT, so its own page cache answers nothing",
        "not shown: what more clients lose than this one, nor what the servers' page caches have"
        " to do with it, unless they are emptied by --may-drop-caches all",
    ),
    absent={
        "host": "no NodeManager runs on a storage server of the site: none is started there",
    },
)


def with_guest(*, kvm: bool) -> Scope:
    """Returns a lab's scope with one more arm: a QEMU guest that runs TeraSort on its own."""
    how = "by KVM" if kvm else "emulated by TCG"
    said = (
        f"TeraSort in a loop in one QEMU guest as large as that cgroup, {how}, on its own virtio"
        " disk, by Hadoop's LocalJobRunner; paused in the other arms"
    )
    speed = () if kvm else ("; not at the speed of a guest: TCG is many times slower than KVM",)
    shown = (
        "shown by the emulated guest: QEMU's threads beside the service's, a kernel and a page"
        " cache of its own, one virtio disk past the host's page cache" + "".join(speed),
    )
    return Scope({**LAB.arms, "emulated": said}, (*LAB.shown, *shown))
