"""The notation of the core affinity slides: [DC] shares its last cache with a disk's interrupt."""

from __future__ import annotations

from collections.abc import Sequence

from vas_affinity.machine.topology import MachineTopology, Nearness

ORDER = ("DS", "DC", "DM", "DN", "NC", "NM", "NN")
"""The labels from best to worst; [NS] is never used."""

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
"""A sibling of the interrupt's CPU is C: sharing its core costs in the sharing term. Two nodes of
one package share no memory module, hence N."""


def letters(topology: MachineTopology, cpus: Sequence[int], targets: Sequence[int]) -> list[str]:
    """Returns S, C, M or N for each CPU: how near its nearest target is.

    The letters are empty without targets.
    """
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
    """Returns a CPU's label from its letters for the disk's and the network's interrupts.

    Every CPU is DS, DC, DM or DN to a disk interrupt, so the N labels count only if no disk
    interrupt is known. A CPU that both interrupt is [NS].
    """
    if network == "S":
        return FORBIDDEN
    if disk:
        return f"D{disk}"
    return f"N{network}" if network else NO_LABEL


def rank(disk: str, network: str) -> tuple[int, int]:
    """Returns a key that sorts CPUs (but [NS]) by the slides' order, then the network's letter."""
    name = label(disk, network)
    first = ORDER.index(name) if name in ORDER else len(ORDER)
    return first, "SCMN".find(network)
