"""Writes a guest's placement as `virsh` commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_affinity.plan.emit.guests import guests_of, memory_of, pins_of


@dataclass(frozen=True)
class VirshCommand:
    """A virsh command without its flags; `live` if it works on a running guest too."""

    arguments: tuple[str, ...]
    reason: str
    live: bool = True


def guest_commands(placement: HostPlacement, guest: str) -> list[VirshCommand]:
    """Returns the commands that place a guest.

    Its shape, huge pages and iothreads cannot be changed by commands: they are in its definition.
    """
    guests_of(placement, guest)
    commands = []
    for target, words in (
        (PinTarget.VCPU, ("vcpupin", guest)),
        (PinTarget.EMULATOR, ("emulatorpin", guest)),
        (PinTarget.IOTHREAD, ("iothreadpin", guest)),
    ):
        commands += [_pin(words, pin) for pin in pins_of(placement, target, guest)]
    memory = memory_of(placement, guest)
    if memory and memory.nodes:
        mode = "strict" if memory.strict else "preferred"
        nodes = format_cpulist(memory.nodes)
        numatune = ("numatune", guest, "--mode", mode, "--nodeset", nodes)
        commands.append(VirshCommand(numatune, "memory near the vCPUs", live=False))
    return commands


def virsh_commands(placement: HostPlacement, guest: str, *, live: bool) -> list[Sequence[str]]:
    """Returns whole virsh commands for the definition, and if `live` for the running guest."""
    return [
        ("virsh", *command.arguments, *(("--live",) if live and command.live else ()), "--config")
        for command in guest_commands(placement, guest)
    ]


def _pin(words: tuple[str, ...], pin: Pin) -> VirshCommand:
    number = () if pin.target is PinTarget.EMULATOR else (pin.name,)
    return VirshCommand((*words, *number, format_cpulist(pin.cpus)), pin.reason)
