"""Writes a placement for other programs: libvirt, virsh, a script, irqbalance, tuned. Pure."""

from vas_affinity.plan.emit.libvirt import domain_elements
from vas_affinity.plan.emit.virsh import virsh_commands

__all__ = ["domain_elements", "virsh_commands"]
