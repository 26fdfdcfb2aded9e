"""Explains in words why a vCPU or helper is on its CPU. Pure."""

from __future__ import annotations

from vas_affinity.guest_plan.machine import Core, Near
from vas_affinity.guest_plan.storage import StorageCpus
from vas_affinity.machine.topology import Nearness

_WORDS = {
    Nearness.SAME: "is",
    Nearness.CORE: "is a sibling of",
    Nearness.CACHE: "shares the last-level cache with",
    Nearness.MEMORY: "shares the memory node with",
    Nearness.PACKAGE: "is in the package of",
    Nearness.NONE: "is in another package than",
}


def nearness_words(cpu: int, near: Near, storage: StorageCpus) -> str:
    """Returns, for example, `shares the last-level cache with storage interrupt CPU 4 (nvme0)`."""
    nearness, target = near.target(cpu)
    return f"{_WORDS[nearness]} storage interrupt {storage.words(target)}"


def vcpu_words(core: Core, near: Near, storage: StorageCpus) -> str:
    """Explains why a vCPU is on a CPU of this core."""
    parts = [f"core {core.number} {nearness_words(core.cpus[0], near, storage)}"]
    if core.isolated:
        parts.append("isolated from the host's scheduler")
    if 0 in core.cpus:
        parts.append("no other core was left than that of CPU 0")
    return ", ".join(parts)
