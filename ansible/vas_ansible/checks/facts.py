"""What the module `vas_facts` reads on a machine, checked for its shape."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class _Facts(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Interface(_Facts):
    """A network interface: `vfs_total` and `vfs` are None where it is no physical function."""

    mtu: int
    group: int = 0
    addresses: list[str] = []
    vfs_total: int | None = None
    vfs: int | None = None


class Account(_Facts):
    """A user or a group: its number here or None, and who has the number that it is to have."""

    name: str
    wanted: int
    found: int | None
    holder: str | None


class Facts(_Facts):
    """A machine as it is before a change. Memory in bytes.

    `synchronised` is None where nobody knows; `names` are what the map's names resolve to here;
    `routes` are networks that it has a route to, other than by an address of its own.
    """

    hostname: str
    kernel: str
    headers: bool
    kvm: bool
    iommu_groups: int
    memory_bytes: int
    huge_bytes: int
    cpus: int
    interfaces: dict[str, Interface]
    routes: list[str]
    names: dict[str, list[str]]
    accounts: list[Account] = []
    synchronised: bool | None
    lustre: str | None
    ofed: str | None
