"""The command `vas affinity emit`."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from vas_affinity.placement import HostPlacement
from vas_affinity.placement_file import read_placement
from vas_affinity.plan.emit.guests import guests_of
from vas_affinity.plan.emit.irqbalance import policy_script
from vas_affinity.plan.emit.libvirt import domain_xml
from vas_affinity.plan.emit.script import script
from vas_affinity.plan.emit.tuned import tuned_profile
from vas_affinity.plan.emit.virsh import virsh_commands


def _libvirt(placement: HostPlacement, guests: Sequence[str]) -> str:
    return "".join(domain_xml(placement, guest) + "\n" for guest in guests)


def _virsh(placement: HostPlacement, guests: Sequence[str]) -> str:
    commands = [c for guest in guests for c in virsh_commands(placement, guest, live=True)]
    return "".join(shlex.join(command) + "\n" for command in commands)


_FORMS: dict[str, Callable[[HostPlacement, Sequence[str]], str]] = {
    "libvirt": _libvirt,
    "virsh": _virsh,
    "script": script,
    "irqbalance": lambda placement, _: policy_script(placement),
    "tuned": tuned_profile,
}


@click.command()
@click.argument("plan", type=click.Path(path_type=Path), metavar="PLAN.json")
@click.option(
    "--as", "form", type=click.Choice(list(_FORMS)), required=True, help="Form of the output."
)
@click.option("--guest", metavar="NAME", help="Print this guest only.")
def emit(plan: Path, form: str, guest: str | None) -> None:
    """Print a plan as libvirt XML, virsh commands or a script.

    libvirt: the elements of <domain> that place a guest. virsh: commands for running guests.
    script: bash that applies the whole plan, for hosts where no daemon may run. irqbalance: a
    policy script, so that irqbalance does not move the interrupts of the plan. tuned: a profile of
    the settings at boot. Reads the plan only, and changes nothing.

    \b
    Examples: vas affinity emit plan.json --as libvirt --guest vm1
              vas affinity emit plan.json --as script > /etc/vas/place-guests
    """
    placement = read_placement(plan)
    guests = guests_of(placement, guest) if guest or form in _OF_GUESTS else _all(placement)
    click.echo(_FORMS[form](placement, guests), nl=False)


_OF_GUESTS = ("libvirt", "virsh")


def _all(placement: HostPlacement) -> tuple[str, ...]:
    return tuple(shape.guest for shape in placement.shapes)
