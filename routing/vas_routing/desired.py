"""Defines the desired state of a node's kernel: plain values, each with the reason for it."""

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
    """A policy rule: the kernel looks destinations up in this table before its own tables."""

    version: int
    priority: int
    table: int
    reason: str = _reason()


@dataclass(frozen=True, kw_only=True)
class Route:
    """A route. In `table` 254, the kernel's main one, a high `metric` puts it behind others."""

    destination: Network
    gateway: Address
    device: str
    source: Address
    table: int
    metric: int = 0
    reason: str = _reason()


@dataclass(frozen=True, kw_only=True)
class Proxy:
    """An address for which this node answers ARP or neighbour discovery on a device."""

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
    """All that a node's kernel must have of VAS.

    A new proxy is also announced, so that other nodes' neighbour caches learn it.
    """

    addresses: frozenset[OwnAddress] = frozenset()
    rules: frozenset[PolicyRule] = frozenset()
    routes: frozenset[Route] = frozenset()
    proxies: frozenset[Proxy] = frozenset()
    sysctls: frozenset[Sysctl] = frozenset()
