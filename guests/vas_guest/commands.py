"""The command group `vas guest`: a guest's domain and seed, made from the map."""

from __future__ import annotations

import click

from vas_core.lazy import Later, LazyGroup

_LATER = {
    "apply": Later(
        "vas_guest.verbs.apply:apply", "Define a guest as the map has it, and read it back."
    ),
    "remove": Later(
        "vas_guest.verbs.remove:remove",
        "Remove a guest that is shut down; its disks stay.",
    ),
    "restart": Later(
        "vas_guest.verbs.restart:restart",
        "Restart a guest with its present definition.",
    ),
    "seed": Later("vas_guest.verbs.seed:seed", "Print a guest's cloud-init seed, or write its CD."),
    "verify": Later("vas_guest.verbs.verify:verify", "Compare a guest's definition with the map."),
    "vfs": Later(
        "vas_guest.verbs.vfs:vfs", "Make a virtual function for each guest of this server."
    ),
    "xml": Later("vas_guest.verbs.xml:xml", "Print a guest's domain as libvirt's XML."),
}


@click.group(cls=LazyGroup, later=_LATER)
def guest() -> None:
    """Describe guests to libvirt and cloud-init, from the map."""
