"""The settings of a site's guests beyond the map: /etc/vas/guest.yaml."""

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
    """The settings of all guests of a site. Without `kernel`, a guest boots its disk by UEFI."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    accelerator: Annotated[Accelerator, Field(strict=False)] = Accelerator.KVM
    machine: str = "q35"
    kernel: AbsolutePath | None = None
    initrd: AbsolutePath | None = None
    kernel_command_line: str | None = None
    virtual_function: bool = True
    """False for a site without SR-IOV."""
    fabric_bridge: str | None = None
    """A bridge of the storage server on the data fabric, instead of a virtual function."""
    trust: bool = False
    """Whether a guest may change its VF's MAC or go promiscuous: the adapter's `trust`."""
    vlan: Annotated[int, Field(ge=1, le=4094)] | None = None
    mtu: Annotated[int, Field(ge=1280, le=65535)] | None = None
    """The MTU of both legs in bytes, like the PF's: a leg with a smaller one loses long packets.

    IPv6 needs at least 1280 (RFC 8200, section 5).
    """
    prefix_bits: Annotated[int, Field(ge=1, le=128)] = 24
    """The prefix length of the data fabric's network, which is not in the map."""
    gateway: str | None = None
    memory_limit: bool = True
    """False for a libvirt without a memory cgroup."""
    overhead_mib: Annotated[int, Field(ge=1024)] = 1024
    """Memory that QEMU may use in addition to the guest's: see `vas_guest.memory`."""
    seeds: AbsolutePath = "/var/lib/vas/seed"
    """The directory of the cloud-init seeds, on the storage server."""
    consoles: AbsolutePath = "/var/log/libvirt/qemu"
    """The directory of the logs of guests' consoles, on the storage server."""
    used_disks: list[AbsolutePath] = []
    """Devices with a guest's own data; other devices with data are refused."""
    authorized_keys: list[str] = []
    """Public SSH keys of the administrator, who is `vas` in the guest."""

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
        """Tells whether the guest has a NIC on the data fabric."""
        return self.virtual_function or self.fabric_bridge is not None


def read_settings(file: Path) -> GuestSettings:
    """Reads the settings of guests; the defaults if the default file is missing.

    Raises BadInput that names the wrong key.
    """
    return read_yaml(file, GuestSettings, default=DEFAULT)
