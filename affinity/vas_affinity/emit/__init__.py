"""A placement as others read it: libvirt, virsh, a script, irqbalance, tuned. Pure."""

from vas_affinity.emit.libvirt import domain_elements
from vas_affinity.emit.virsh import virsh_commands

__all__ = ["domain_elements", "virsh_commands"]
