"""Prints a plan as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

import click

from vas_affinity.machine.cpulist import format_cpulist
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_core.cli import note
from vas_core.table import print_table


def _gathered(pins: Iterable[Pin]) -> Iterator[list[Pin]]:
    """Each pin; interrupts next to each other with one reason, as a device has hundreds, as one."""
    together = groupby(pins, lambda pin: (pin.target is PinTarget.INTERRUPT, pin.reason))
    for (interrupt, _), group in together:
        if interrupt:
            yield list(group)
        else:
            yield from ([pin] for pin in group)


def _row(pins: list[Pin]) -> tuple[str, ...]:
    first = pins[0]
    name = first.name if len(pins) == 1 else format_cpulist(int(pin.name) for pin in pins)
    cpus = format_cpulist(cpu for pin in pins for cpu in pin.cpus)
    return (first.guest or "", first.target.value, name, cpus, first.reason)


def print_plan(placement: HostPlacement) -> None:
    """Prints the pins, the CPUs of each role, the score and the notes."""
    print_table(("GUEST", "WHAT", "NAME", "CPUS", "WHY"), map(_row, _gathered(placement.pins)))
    by_role: dict[str, list[int]] = {}
    for cpu, role in sorted(placement.roles.items()):
        by_role.setdefault(role.value, []).append(cpu)
    click.echo("")
    print_table(("ROLE", "CPUS"), [(role, format_cpulist(by_role[role])) for role in by_role])
    if placement.score is not None:
        click.echo(f"\nscore {placement.score:.2f} (lower is better)")
    for line in placement.notes:
        note(f"note: {line}")
