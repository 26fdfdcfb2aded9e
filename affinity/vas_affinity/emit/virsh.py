"""A guest's placement as `virsh` commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vas_affinity.cpulist import format_cpulist
from vas_affinity.emit.guests import guests_of, memory_of, pins_of
from vas_affinity.placement import Pin, Placement, Target


@dataclass(frozen=True)
class Command:
    """Arguments of virsh without its flags; `live` if it works on a running guest too."""

    arguments: tuple[str, ...]
    reason: str
    live: bool = True


def guest_commands(placement: Placement, guest: str) -> list[Command]:
    """What places a guest. Its shape, huge pages and iothreads are in its definition only."""
    guests_of(placement, guest)
    commands = []
    for target, words in (
        (Target.VCPU, ("vcpupin", guest)),
        (Target.EMULATOR, ("emulatorpin", guest)),
        (Target.IOTHREAD, ("iothreadpin", guest)),
    ):
        commands += [_pin(words, pin) for pin in pins_of(placement, target, guest)]
    memory = memory_of(placement, guest)
    if memory and memory.nodes:
        mode = "strict" if memory.strict else "preferred"
        nodes = format_cpulist(memory.nodes)
        numatune = ("numatune", guest, "--mode", mode, "--nodeset", nodes)
        commands.append(Command(numatune, "memory beside the vCPUs", live=False))
    return commands


def virsh_commands(placement: Placement, guest: str, *, live: bool) -> list[Sequence[str]]:
    """The same as whole commands, for the definition, and for the guest that runs if `live`."""
    return [
        ("virsh", *command.arguments, *(("--live",) if live and command.live else ()), "--config")
        for command in guest_commands(placement, guest)
    ]


def _pin(words: tuple[str, ...], pin: Pin) -> Command:
    number = () if pin.target is Target.EMULATOR else (pin.name,)
    return Command((*words, *number, format_cpulist(pin.cpus)), pin.reason)
