"""The slides' notation: [DC] is a core that shares its last cache with a disk interrupt's core."""

from __future__ import annotations

from collections.abc import Sequence

from vas_affinity.topology import Nearness, Topology

ORDER = ("DS", "DC", "DM", "DN", "NC", "NM", "NN")
"""From the best; [NS] is never used."""

FORBIDDEN = "NS"
NO_LABEL = ""

_LETTERS = {
    Nearness.SAME: "S",
    Nearness.CORE: "C",
    Nearness.CACHE: "C",
    Nearness.MEMORY: "M",
    Nearness.PACKAGE: "N",
    Nearness.NONE: "N",
}
"""A sibling of the interrupt's CPU is C: that it also shares the core is the sharing term's. Two
nodes of one package share no memory module, so that is N."""


def letters(topology: Topology, cpus: Sequence[int], targets: Sequence[int]) -> list[str]:
    """S, C, M or N of each CPU: how near the nearest of the targets is; empty without targets."""
    if not targets:
        return [""] * len(cpus)
    found = [topology.cpu(target) for target in targets]
    same, l3s = set(targets), {cpu.l3 for cpu in found}
    cores = {cpu.core for cpu in found}
    nodes = {cpu.node for cpu in found} - {None}

    def nearness(number: int) -> Nearness:
        cpu = topology.cpu(number)
        if number in same:
            return Nearness.SAME
        if cpu.core in cores or cpu.l3 in l3s:
            return Nearness.CACHE
        return Nearness.MEMORY if cpu.node in nodes else Nearness.NONE

    return [_LETTERS[nearness(cpu)] for cpu in cpus]


def label(disk: str, network: str) -> str:
    """A CPU's label, from its letters to the disk's and to the network's interrupts.

    A CPU is DS, DC, DM or DN to every disk interrupt there is: the N labels only tell apart CPUs
    where no disk interrupt is known. Where both interrupt one CPU it is [NS].
    """
    if network == "S":
        return FORBIDDEN
    if disk:
        return f"D{disk}"
    return f"N{network}" if network else NO_LABEL


def rank(disk: str, network: str) -> tuple[int, int]:
    """Sorts CPUs that are not [NS] by the slides' order, ties by the network's letter."""
    name = label(disk, network)
    first = ORDER.index(name) if name in ORDER else len(ORDER)
    return first, "SCMN".find(network)
