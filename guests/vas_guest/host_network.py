"""Defines, starts and removes the pool of a storage server's virtual functions in libvirt."""

from __future__ import annotations

from vas_core.errors import BadInput
from vas_guest.compare import GuestDifference
from vas_guest.desired import DesiredGuest
from vas_guest.domain import to_text
from vas_guest.libvirt import GuestLibvirt
from vas_guest.network import has, network_name, network_uuid

_THERE = "there"


def network_differences(libvirt: GuestLibvirt, desired: DesiredGuest) -> list[GuestDifference]:
    """Returns how the defined pool differs from the desired one: an empty or a one-element list.

    Empty too for a guest that gets no VF. Raises VasError if virsh fails.
    """
    if desired.network is None:
        return []
    name = network_name(desired.host)
    if name not in libvirt.listed("net-list", "--all", "--name"):
        return [GuestDifference(f"/network[{name}]", _THERE, None)]
    found, wants = has(libvirt.network(name, "--inactive")), has(desired.network)
    if found == wants:
        return []
    return [GuestDifference(f"/network[{name}]/forward", wants, found)]


def define_network(libvirt: GuestLibvirt, desired: DesiredGuest) -> None:
    """Defines and starts the pool, and makes libvirt start it whenever its host boots.

    Raises VasError if virsh fails.
    """
    assert desired.network is not None
    libvirt.do("net-define", "/dev/stdin", stdin=to_text(desired.network))
    libvirt.do("net-autostart", network_name(desired.host))
    start_network(libvirt, desired)


def start_network(libvirt: GuestLibvirt, desired: DesiredGuest) -> None:
    """Starts the pool, or starts it again if its active definition is not the stored one.

    A pool of which a guest has a VF is left as it is.

    Raises VasError if virsh fails.
    """
    name = network_name(desired.host)
    if name in libvirt.listed("net-list", "--name"):
        active = libvirt.network(name)
        if active.get("connections") or has(active) == has(libvirt.network(name, "--inactive")):
            return
        libvirt.do("net-destroy", name)
    libvirt.do("net-start", name)


def remove_network(libvirt: GuestLibvirt, desired: DesiredGuest) -> None:
    """Removes the pool if no guest of the host is defined any more.

    Raises VasError if virsh fails.
    """
    if not desired.settings.virtual_function or desired.neighbours & set(
        libvirt.listed("list", "--all")
    ):
        return
    uuid = network_uuid(desired.cluster, desired.host)
    if uuid in libvirt.listed("net-list", "--uuid"):
        libvirt.do("net-destroy", uuid)
    if uuid in libvirt.listed("net-list", "--all", "--uuid"):
        libvirt.do("net-undefine", uuid)


def refuse_without_functions(desired: DesiredGuest) -> None:
    """Raises BadInput if the guest needs a virtual function and its host has none."""
    if desired.settings.virtual_function and not desired.functions:
        hint = "run `vas guest vfs` on its server first"
        pf = desired.host.nics.pf
        raise BadInput("has no virtual functions for guests", where=pf, hint=hint)
