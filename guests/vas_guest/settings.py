"""What a site may say of its guests beyond the map: /etc/vas/guest.yaml."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from vas_core.settings import read_yaml

DEFAULT = Path("/etc/vas/guest.yaml")
AbsolutePath = Annotated[str, Field(pattern=r"^/")]


class Accelerator(StrEnum):
    """libvirt's domain type: what runs the guest's code."""

    KVM = "kvm"
    TCG = "qemu"


class GuestSettings(BaseModel):
    """How every guest of a site is made. Without `kernel` its disk boots by itself, by UEFI."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accelerator: Annotated[Accelerator, Field(strict=False)] = Accelerator.KVM
    machine: str = "q35"
    kernel: AbsolutePath | None = None
    initrd: AbsolutePath | None = None
    kernel_command_line: str | None = None
    virtual_function: bool = True
    """False where there is no SR-IOV."""
    fabric_bridge: str | None = None
    """A bridge of the storage server that is on the data fabric, in place of a virtual function."""
    trust: bool = False
    """Whether a guest may change its VF's MAC or go promiscuous: the adapter's `trust`."""
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    mtu: Annotated[int, Field(ge=1280, le=65535)] | None = None
    """Of both legs, in bytes, as the PF has it. Long packets vanish where a leg has a smaller one.

    1280 is what IPv6 needs at least (RFC 8200, section 5).
    """
    prefix_bits: Annotated[int, Field(ge=1, le=128)] = 24
    """Of the data fabric's network, which the map does not say."""
    gateway: str | None = None
    memory_limit: bool = True
    """False where libvirt has no memory cgroup."""
    overhead_mib: Annotated[int, Field(ge=1024)] = 1024
    """What QEMU may use beside the guest's memory: see `vas_guest.memory`."""
    seeds: AbsolutePath = "/var/lib/vas/seed"
    """The directory of the cloud-init seeds, on the storage server."""
    consoles: AbsolutePath = "/var/log/libvirt/qemu"
    """The directory of what guests print on their consoles, on the storage server."""
    used_disks: list[AbsolutePath] = []
    """Devices with data of a guest's own: those of other people, who have data, are refused."""
    authorized_keys: list[str] = []
    """Public SSH keys of the administrator, `vas` in the guest."""

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.initrd or self.kernel_command_line) and not self.kernel:
            raise ValueError("initrd and kernel_command_line need kernel")
        if self.virtual_function and self.fabric_bridge:
            raise ValueError("fabric_bridge needs virtual_function: false")
        if self.vlan and not self.virtual_function:
            raise ValueError("vlan is of a virtual function: make the bridge one of that VLAN")
        return self

    @property
    def on_fabric(self) -> bool:
        """Whether the guest has a NIC on the data fabric."""
        return self.virtual_function or self.fabric_bridge is not None


def read_settings(file: Path) -> GuestSettings:
    """Reads them. Raises BadInput that names the key."""
    return read_yaml(file, GuestSettings, default=DEFAULT)
