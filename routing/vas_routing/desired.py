"""The desired state of a node's kernel: plain values, each with the reason for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import (
    IPv4Address,
    IPv4Interface,
    IPv4Network,
    IPv6Address,
    IPv6Interface,
    IPv6Network,
)

Address = IPv4Address | IPv6Address
Interface = IPv4Interface | IPv6Interface
Network = IPv4Network | IPv6Network


def _reason() -> str:
    """Two things that differ in their reasons alone are equal."""
    return field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class OwnAddress:
    """An address of the node on its virtio leg: a next hop for its peers."""

    interface: Interface
    device: str
    reason: str = _reason()


@dataclass(frozen=True, kw_only=True)
class PolicyRule:
    """A policy rule: destinations are looked up in this table before the kernel's own."""

    version: int
    priority: int
    table: int
    reason: str = _reason()


@dataclass(frozen=True, kw_only=True)
class Route:
    """A route. `table` 254 is the kernel's main one, where only `metric` keeps it behind others."""

    destination: Network
    gateway: Address
    device: str
    source: Address
    table: int
    metric: int = 0
    reason: str = _reason()


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """A neighbour that this node answers for on a device: ARP, or neighbour discovery."""

    address: Address
    device: str
    reason: str = _reason()


@dataclass(frozen=True, kw_only=True)
class Sysctl:
    """A kernel parameter, by its path below /proc/sys."""

    name: str
    value: str
    reason: str = _reason()


@dataclass(frozen=True)
class DesiredState:
    """Everything that VAS wants a node's kernel to have.

    A proxy that is new is also announced, so that the caches of other nodes learn it.
    """

    addresses: frozenset[OwnAddress] = frozenset()
    rules: frozenset[PolicyRule] = frozenset()
    routes: frozenset[Route] = frozenset()
    proxies: frozenset[Proxy] = frozenset()
    sysctls: frozenset[Sysctl] = frozenset()
