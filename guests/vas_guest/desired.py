"""The desired state of a guest: its domain, pool, seed and disks, from the map. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as Xml

from vas_cluster import Cluster, Guest, Host
from vas_guest.domain import domain, guest_uuid, seed_file
from vas_guest.network import network
from vas_guest.seed import seed_files
from vas_guest.settings import GuestSettings


@dataclass(frozen=True)
class DesiredGuest:
    """A guest as the map, the settings and the placement describe it.

    `map_text` is cluster.yaml as it is written, for the guest's own copy.
    """

    cluster: Cluster
    map_text: str
    guest: Guest
    settings: GuestSettings
    placement: Xml.Element | None = None
    functions: tuple[str, ...] = ()
    """The PCI addresses of its host's VFs, of which it gets one."""
    image: Path | None = None
    """The image of which its first disk is made, if that disk does not exist."""

    @property
    def uuid(self) -> str:
        """Returns the guest's UUID, which depends on the site and its name only."""
        return guest_uuid(self.cluster, self.guest)

    @property
    def host(self) -> Host:
        """Returns the storage server that the guest runs on."""
        host = self.cluster.host_by_guest(self.guest.name)
        assert host is not None, "a guest of the map has a host"
        return host

    @property
    def domain(self) -> Xml.Element:
        """Returns the guest's libvirt domain.

        Raises BadInput for a guest without a disk, and for a placement of another guest or
        size.
        """
        return domain(self.cluster, self.guest, self.settings, self.placement)

    @property
    def network(self) -> Xml.Element | None:
        """Returns the libvirt network (pool) of the guest's VF; None if it gets no VF.

        Raises ValueError for an entry of `functions` that is not a PCI address.
        """
        if not self.settings.virtual_function:
            return None
        return network(self.cluster, self.host, self.functions)

    @property
    def neighbours(self) -> set[str]:
        """Returns the UUIDs of all guests of the same host, this one included."""
        return {guest_uuid(self.cluster, guest) for guest in self.host.guests}

    @property
    def seed(self) -> dict[str, str]:
        """Returns the files of the guest's cloud-init seed: name -> text."""
        return seed_files(self.cluster, self.map_text, self.guest, self.settings)

    @property
    def seed_file(self) -> Path:
        """Returns the path of the guest's seed (a CD image) on its host."""
        return Path(seed_file(self.guest, self.settings))
