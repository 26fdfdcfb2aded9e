"""The arms of a lab and of a site, and what a comparison of them can show. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vas_bench.interference.patterns import ArmName


@dataclass(frozen=True)
class Scope:
    """The texts for a reader: each arm, the arms that cannot be here, and what is shown."""

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
