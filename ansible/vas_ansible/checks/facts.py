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

    `device` is the number of that file system, `free_bytes` the space that is free on it.
    """

    there: bool
    device: int
    free_bytes: int


class FirewalldZone(_FrozenFacts):
    """An interface's zone of firewalld; `target` is the fate of packets that match no rule.

    `ports`: ports that it lets in, each as PORT/PROTOCOL; `sources`: networks from which it lets in
    everything.
    """

    zone: str
    target: str
    ports: list[str] = []
    sources: list[str] = []


class Chain(_FrozenFacts):
    """A chain that drops packets that match no rule; from interfaces in `open` it takes all.

    `ports`: interface, or "*" for all -> ports that it lets in, each as PORT/PROTOCOL; `sources`:
    networks from which it lets in everything.
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
    """One nodemap of Lustre. `admin`: whether its clients' root is root on the file system.

    `ranges`: first and last NID of each range, as Lustre prints them.
    """

    admin: bool
    ranges: list[tuple[str, str]] = []


class LustreServer(_FrozenFacts):
    """Facts of a Lustre server; all fields are empty on any other machine.

    `nodemaps`: name -> nodemap, empty if the server has none; `nodemaps_active`: whether they are
    in force; `remote_dir_gid`: MDT -> group that may make striped directories (0: root only).
    """

    nodemaps_active: bool = False
    nodemaps: dict[str, Nodemap] = {}
    remote_dir_gid: dict[str, int] = {}


class MachineFacts(_FrozenFacts):
    """A machine as it is before a change. Memory in bytes.

    `synchronised` (of the clock) is None if not known; `names`: name of the map -> addresses that
    it has here; `routes`: networks with a route other than by an address of the machine; `clock`:
    seconds since 1970; `listening`: TCP ports, `exposed`: those of them that listen on more than a
    loopback address; `units`: VAS's units that exist; `server`: facts of a Lustre server; `users`:
    user of the queues -> number, None if unknown; `available_bytes`: memory that programs have
    not taken; `running`: libvirt's domains, `guests`: those that VAS defined; `link_protection`:
    fs.protected_hardlinks and fs.protected_symlinks, None if not readable; `lustre_mounts`: where
    Lustre is mounted; `site_lnet`: whether LNet is loaded, not by the role `lustre_client`.
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
