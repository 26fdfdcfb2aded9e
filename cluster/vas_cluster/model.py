"""The shape of `cluster.yaml`: pydantic models, one per YAML mapping.

The JSON Schema that the Java side validates with is generated from these models
(`vas cluster schema`), so a key's name, type, bounds and meaning stand here only.
What one key cannot say about another (duplicates, references) is in `rules.py`.
"""

from __future__ import annotations

import ipaddress
from enum import StrEnum
from functools import cached_property
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from vas_cluster.addresses import one_spelling
from vas_core.sizes import parse_size


def _ip(text: str) -> str:
    ipaddress.ip_address(text)
    return text


Ip = Annotated[str, AfterValidator(_ip), Field(json_schema_extra={"format": "ip"})]
NodeName = Annotated[
    str,
    Field(pattern=r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$"),
]
InterfaceName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,14}$")]
_OCTET = r"(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"


def _nid(text: str) -> str:
    address = text.partition("@")[0]
    if ":" in address:
        ipaddress.IPv6Address(address)
    return text


# As Lustre prints it, so that what a client says is found here: network 0 has no number.
Nid = Annotated[
    str,
    Field(
        pattern=rf"^({_OCTET}(\.{_OCTET}){{3}}|[0-9a-f]*:[0-9a-f:]+|[0-9]+)"
        r"@(tcp|o2ib|gni|kfi)([1-9][0-9]*)?$",
        json_schema_extra={"format": "nid"},
    ),
    AfterValidator(_nid),
]
User = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]*$")]
Mac = Annotated[str, Field(pattern=r"^[0-9a-f]{2}(:[0-9a-f]{2}){5}$")]
Size = Annotated[str, Field(pattern=r"^[1-9][0-9]*(MiB|GiB|TiB)$")]
AbsolutePath = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9_:@-][A-Za-z0-9_.:@-]*)+$")]


class _Mapping(BaseModel):
    # Strict: "4" is not 4. Frozen: a description that was checked stays what was checked.
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Flock(StrEnum):
    """The behaviour of flock() and fcntl() locks on a Lustre mount."""

    FLOCK = "flock"
    LOCALFLOCK = "localflock"
    NOFLOCK = "noflock"

    @property
    def meaning(self) -> str:
        """Describes the effect of the mount option in one line."""
        return _FLOCK_MEANING[self]


_FLOCK_MEANING = {
    Flock.FLOCK: "locks are coherent across all clients (Lustre's default since 2.13)",
    Flock.LOCALFLOCK: "each client grants locks on its own, so two nodes can hold one lock",
    Flock.NOFLOCK: "flock() and fcntl() locks fail with ENOSYS",
}


class Lustre(_Mapping):
    """The Lustre file system that the storage hosts serve."""

    fsname: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]{1,8}$")] = Field(
        description="the file system's name, 1 to 8 letters, digits or _"
    )
    mount: AbsolutePath = Field(description="the mount point in every guest, an absolute path")
    mgs_nids: Annotated[list[Nid], Field(min_length=1)] = Field(
        description="the LNet NIDs of the MGS, like 192.0.2.1@tcp"
    )
    flock: Annotated[Flock, Field(strict=False)] = Field(
        default=Flock.FLOCK,
        description="flock (coherent), localflock (node-local locks only) or noflock (none)",
    )
    mount_options: list[str] = Field(
        default=[], description="further options of mount -t lustre, without flock's"
    )


class Nics(_Mapping):
    """The network interfaces of a storage host that the guest's traffic uses."""

    pf: InterfaceName = Field(description="the SR-IOV physical function, an interface name")
    vf: InterfaceName = Field(description="the guest's virtual function, an interface name")
    bridge: InterfaceName = Field(description="the host-only virtio bridge, an interface name")


class Macs(_Mapping):
    """The MAC addresses of a guest's two NICs."""

    vf: Mac = Field(description="the VF's MAC, lower case, like 52:54:00:77:01:01")
    virtio: Mac = Field(description="the virtio NIC's MAC, lower case, like 52:54:00:77:01:02")


class Disk(_Mapping):
    """One disk of a guest, a file or a block device on its host."""

    path: AbsolutePath = Field(description="where the disk lies on the host, an absolute path")
    size: Size = Field(description="its size, like 40GiB")


class Guest(_Mapping):
    """The virtual machine on a storage host: a YARN NodeManager and a Lustre client."""

    name: NodeName = Field(description="the guest's host name, which is its YARN node name")
    address: Ip = Field(description="the VF's IP address on the data fabric")
    macs: Macs = Field(description="the MAC addresses of the guest's two NICs")
    memory: Size = Field(description="the guest's memory, like 6GiB")
    vcpus: Annotated[int, Field(ge=1, le=1024)] = Field(description="virtual CPUs, 1 to 1024")
    iothreads: Annotated[int, Field(ge=1, le=16)] = Field(
        default=1, description="I/O threads that the guest's disks share in turn, 1 to 16"
    )
    disks: list[Disk] = Field(default=[], description="the guest's disks")

    @property
    def memory_bytes(self) -> int:
        """The guest's memory in bytes."""
        return parse_size(self.memory)


class Host(_Mapping):
    """One object storage server (OSS; the papers' PM)."""

    name: NodeName = Field(description="the server's host name")
    address: Ip = Field(description="its IP address on the data fabric (the PF's)")
    nids: Annotated[list[Nid], Field(min_length=1)] = Field(
        description="its LNet NIDs, like 192.0.2.11@tcp"
    )
    osts: list[Annotated[int, Field(ge=0, le=65534)]] = Field(
        description="the indices of the OSTs it serves when nothing has failed over"
    )
    ha_partner: NodeName | None = Field(
        default=None, description="the host that takes over its OSTs"
    )
    nics: Nics = Field(description="the interfaces pf, vf and bridge")
    storage_devices: list[AbsolutePath] = Field(
        default=[], description="the block devices under its OSTs"
    )
    guests: list[Guest] = Field(
        default=[], description="its virtual machines; leave it out for a host without one"
    )

    def guest_for(self, ost: int) -> Guest | None:
        """Returns the guest in which maps that read an OST's stripes run.

        A host's guests share its OSTs in turn. Returns None if the host has no guests.
        """
        return self.guests[ost % len(self.guests)] if self.guests else None


class ResourceManager(_Mapping):
    """The machine that runs YARN's ResourceManager and the JobHistoryServer."""

    name: NodeName = Field(description="the host name of the ResourceManager")
    address: Ip | None = Field(
        default=None, description="its IP address; leave it out if it is a host or a guest here"
    )


class Queue(_Mapping):
    """One queue of the CapacityScheduler, directly under root."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")] = Field(
        description="the queue's name, letters, digits, _ or -"
    )
    capacity: Annotated[int, Field(ge=0, le=100)] = Field(
        description="its share of the cluster in percent, 0 to 100"
    )
    users: list[User] = Field(
        default=[], description="who may submit, user names; leave it out for everybody"
    )


class Client(_Mapping):
    """A login node: users submit jobs from it, and no daemon of VAS or YARN runs on it."""

    name: NodeName = Field(description="the host name of the login node")
    address: Ip = Field(description="the IP address by which guests know it")


class Yarn(_Mapping):
    """The YARN cluster that the guests form."""

    resourcemanager: ResourceManager = Field(description="where the ResourceManager runs")
    queues: Annotated[list[Queue], Field(min_length=1)] = Field(
        default=[Queue(name="default", capacity=100)], description="the queues under root"
    )
    clients: list[Client] = Field(
        default=[], description="the login nodes, from which users submit jobs"
    )
    trusts_every_user: Annotated[str, Field(pattern=r"\S")] | None = Field(
        default=None,
        description="why users are believed, without Kerberos, who they say they are; a reason",
    )


class Cluster(_Mapping):
    """A site: the PM-to-VM map. `vas_cluster.load_cluster` reads one."""

    site: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]+$")] = Field(
        description="the site's name, letters, digits, _, . or -"
    )
    lustre: Lustre = Field(description="the Lustre file system")
    hosts: Annotated[list[Host], Field(min_length=1)] = Field(
        description="the object storage servers"
    )
    yarn: Yarn = Field(description="the YARN cluster")

    def host(self, name: str) -> Host | None:
        """Returns the host of that name; None if there is none."""
        return self._hosts_by_name.get(name)

    def host_by_nid(self, nid: str) -> Host | None:
        """Returns the host that owns an LNet NID; None if none does."""
        return self._hosts_by_nid.get(one_spelling(nid))

    def host_by_ost(self, index: int) -> Host | None:
        """Returns the host that serves an OST when nothing has failed over; None for an unknown
        OST."""
        return self._hosts_by_ost.get(index)

    def host_by_guest(self, name: str) -> Host | None:
        """Returns the host that runs the guest of that name; None if none does."""
        return self._hosts_by_guest.get(name)

    def guest(self, name: str) -> Guest:
        """Returns the guest of that name. Raises KeyError if there is none."""
        return next(g for g in self._hosts_by_guest[name].guests if g.name == name)

    def guests(self) -> list[Guest]:
        """Returns all guests, in the order of their hosts."""
        return [guest for host in self.hosts for guest in host.guests]

    def name_of(self, called: str) -> str:
        """Returns the map's name for a host or guest, called with its domain or without it.

        Returns `called` itself where the map has no such name, or more than one.
        """
        names = [*self._hosts_by_name, *self._hosts_by_guest]
        if called in names:
            return called
        short, _, domain = called.partition(".")
        found = [n for n in names if n.partition(".")[0] == short and not (domain and "." in n)]
        return found[0] if len(found) == 1 else called

    @property
    def resourcemanager_address(self) -> str:
        """The ResourceManager's IP address, also when the map gives only its name."""
        manager = self.yarn.resourcemanager
        if manager.address:
            return manager.address
        if host := self.host(manager.name):
            return host.address
        return self.guest(manager.name).address

    @cached_property
    def _hosts_by_name(self) -> dict[str, Host]:
        return {host.name: host for host in self.hosts}

    @cached_property
    def _hosts_by_nid(self) -> dict[str, Host]:
        return {one_spelling(nid): host for host in self.hosts for nid in host.nids}

    @cached_property
    def _hosts_by_ost(self) -> dict[int, Host]:
        return {index: host for host in self.hosts for index in host.osts}

    @cached_property
    def _hosts_by_guest(self) -> dict[str, Host]:
        return {guest.name: host for host in self.hosts for guest in host.guests}
