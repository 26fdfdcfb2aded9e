"""Models of the facts that the module `vas_facts` reads on a machine."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class _FrozenFacts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Interface(_FrozenFacts):
    """A network interface; `vfs_total` and `vfs` are None unless it is a physical function."""

    mtu: int
    mac: str = ""
    group: int = 0
    addresses: list[str] = []
    vfs_total: int | None = None
    vfs: int | None = None


class Account(_FrozenFacts):
    """A user or a group, its number on this machine, and the number that VAS needs it to have.

    `found` is None for an unknown name; `holder` is who has the number `wanted` here, None if
    nobody.
    """

    name: str
    wanted: int
    found: int | None
    holder: str | None


class FilePlace(_FrozenFacts):
    """A path, whether a file is there, and the file system that holds it or would hold it.

    `device` is the number of that file system, `free_bytes` the room on it.
    """

    there: bool
    device: int
    free_bytes: int


class FirewalldZone(_FrozenFacts):
    """An interface's zone of firewalld; `target` is what becomes of packets that no rule is for.

    `ports`: what it lets in besides, each as PORT/PROTOCOL; `sources`: networks from which it lets
    in everything.
    """

    zone: str
    target: str
    ports: list[str] = []
    sources: list[str] = []


class Chain(_FrozenFacts):
    """A chain that drops what no rule is for; from the interfaces `open` it takes everything.

    `ports`: interface, or "*" for all -> what it lets in besides, each as PORT/PROTOCOL;
    `sources`: networks from which it lets in everything.
    """

    name: str
    hook: str
    open: list[str]
    ports: dict[str, list[str]] = {}
    sources: list[str] = []


class FirewallFacts(_FrozenFacts):
    """Firewall rules that may drop packets.

    `bridges_filtered`: whether packets of a bridge pass the chains.

    `guest_rules`: whether nftables has the rules of `vas provision firewall` for guests.
    """

    zones: dict[str, FirewalldZone] = {}
    chains: list[Chain] = []
    bridges_filtered: bool = False
    guest_rules: bool = False


class Nodemap(_FrozenFacts):
    """One nodemap of Lustre's. `admin`: whether root of its clients is root on the file system.

    `ranges`: first and last NID of each range, as Lustre prints them.
    """

    admin: bool
    ranges: list[tuple[str, str]] = []


class LustreServer(_FrozenFacts):
    """Facts of a Lustre server; all fields are empty on any other machine.

    `nodemaps`: name -> nodemap, empty where the server knows none; `nodemaps_active`: whether they
    are in force; `remote_dir_gid`: MDT -> who may make striped directories (0: root alone).
    """

    nodemaps_active: bool = False
    nodemaps: dict[str, Nodemap] = {}
    remote_dir_gid: dict[str, int] = {}


class MachineFacts(_FrozenFacts):
    """A machine as it is before a change. Memory in bytes.

    `synchronised` is None where nobody knows; `names` are what the map's names resolve to here;
    `routes` are networks that it has a route to, other than by an address of its own; `clock` is
    in seconds since 1970; `listening` are TCP ports, `exposed` those of them that listen at more
    than a loopback address; `units` are those of VAS that are there; `server` is of Lustre's;
    `users` are numbers of the queues' users, None where nobody knows one;
    `available_bytes` are without what programs have; `running` are libvirt's domains, `guests`
    those that VAS defined. `link_protection`: fs.protected_hardlinks and fs.protected_symlinks,
    None for one that could not be read. `lustre_mounts`: where Lustre is mounted; `site_lnet`:
    whether LNet is loaded, and not by the options of the role `lustre_client`.
    """

    hostname: str
    kernel: str
    headers: bool
    kvm: bool
    iommu_groups: int
    memory_bytes: int
    available_bytes: int
    running: list[str] = []
    guests: list[str] = []
    huge_bytes: int
    cpus: int
    interfaces: dict[str, Interface]
    routes: list[str]
    names: dict[str, list[str]]
    accounts: list[Account] = []
    users: dict[str, int | None] = {}
    synchronised: bool | None
    clock: float
    link_protection: dict[str, int | None]
    files: dict[str, FilePlace] = {}
    listening: list[int] = []
    exposed: list[int] = []
    units: list[str] = []
    firewall: FirewallFacts = FirewallFacts()
    server: LustreServer = LustreServer()
    lustre: str | None
    lustre_mounts: list[str] = []
    site_lnet: bool = False
    ofed: str | None
