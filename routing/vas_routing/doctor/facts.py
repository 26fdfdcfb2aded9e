"""Defines the facts that the doctor examines: plain values of one network namespace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vas_routing.desired import Address, Interface


@dataclass(frozen=True, kw_only=True)
class VirtualFunction:
    """A VF as its PF sees it. A field is None where the driver does not report it."""

    number: int
    mac: str
    vlan: int | None = None
    spoof_check: bool | None = None
    link_state: str | None = None
    trusted: bool | None = None


@dataclass(frozen=True, kw_only=True)
class BridgeFacts:
    """The settings of a bridge that delay or filter frames."""

    stp: bool
    forward_delay_seconds: float
    calls_iptables: bool = False
    calls_ip6tables: bool = False


@dataclass(frozen=True, kw_only=True)
class NicFacts:
    """A network interface. `master`: the bridge, bond or VRF that it is a port of.

    `vfs` is None where the kernel lists none, as for every interface that is not a PF.
    """

    index: int
    name: str
    mac: str
    mtu: int
    master: str | None = None
    master_kind: str | None = None
    addresses: tuple[Interface, ...] = ()
    vfs: tuple[VirtualFunction, ...] | None = None
    bridge: BridgeFacts | None = None


@dataclass(frozen=True, kw_only=True)
class SeenRule:
    """A policy rule, whoever made it.

    `source`: whose packets it is for, if not all; `l3mdev`: it is the kernel's own rule for VRFs.
    """

    version: int
    priority: int
    table: int
    protocol: int
    source: str = ""
    l3mdev: bool = False


@dataclass(frozen=True, kw_only=True)
class SeenRoute:
    """A route in VAS's table, or one that carries VAS's protocol number."""

    version: int
    destination: str
    device: str
    table: int
    protocol: int
    metric: int = 0


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """An entry of the neighbour table: who answers for an address on a device."""

    address: Address
    device: str
    mac: str


@dataclass(frozen=True, kw_only=True)
class ForwardChain:
    """A base chain at the forward hook.

    `accepts`: pairs of the devices by which a packet enters and leaves that are let through; None
    is any device.
    """

    family: str
    table: str
    name: str
    policy: str
    accepts: frozenset[tuple[str | None, str | None]] = frozenset()


@dataclass(frozen=True, kw_only=True)
class FirewallState:
    """The chains that forwarded packets pass. `unread`: what could not be read, and why."""

    chains: tuple[ForwardChain, ...] = ()
    unread: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Managed:
    """The program that configures a device. `networkd`: its ADMIN_STATE; `network_file`: its
    file."""

    network_manager: bool = False
    networkd: str | None = None
    network_file: str | None = None


@dataclass(frozen=True, kw_only=True)
class NetworkFacts:
    """A snapshot of one network namespace.

    A sysctl that the kernel does not have is missing in `sysctls` (named as below /proc/sys).
    `unread`: the reason why something could not be read, by what it concerns.
    """

    nics: Mapping[str, NicFacts] = field(default_factory=dict)
    rules: tuple[SeenRule, ...] = ()
    routes: tuple[SeenRoute, ...] = ()
    neighbours: tuple[Neighbour, ...] = ()
    sysctls: Mapping[str, str] = field(default_factory=dict)
    firewall: FirewallState = field(default_factory=FirewallState)
    managed: Mapping[str, Managed] = field(default_factory=dict)
    networkd: Mapping[str, str] | None = None
    """systemd-networkd's settings of [Network], or None where it has not run since boot."""
    skip_mr_route_setup: str | None = None
    """ksocklnd's parameter of that name, or None where it is not loaded."""
    unread: Mapping[str, str] = field(default_factory=dict)
