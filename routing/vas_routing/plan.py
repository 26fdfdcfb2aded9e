"""Plans the changes that lead from a node's current state to the desired one. Pure.

`kernel.py` makes the changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from vas_routing.desired import DesiredState, OwnAddress, PolicyRule, Proxy, Route, Sysctl

Thing = OwnAddress | PolicyRule | Route | Proxy | Sysctl
_KINDS = {
    OwnAddress: "address",
    PolicyRule: "rule",
    Route: "route",
    Proxy: "proxy",
    Sysctl: "sysctl",
}


class ChangeKind(StrEnum):
    """The kinds of change to a thing."""

    ADD = "add"
    REMOVE = "remove"
    SET = "set"
    RESTORE = "restore"


@dataclass(frozen=True)
class CurrentState:
    """The current state of a node: VAS's routes, rules and proxies, all addresses, sysctls' values.

    `added`: the addresses that VAS added; `originals`: the values of sysctls before VAS changed
    them; `absent`: desired sysctls that the kernel lacks, such as those of an unplugged NIC.
    """

    addresses: frozenset[OwnAddress] = frozenset()
    added: frozenset[OwnAddress] = frozenset()
    rules: frozenset[PolicyRule] = frozenset()
    routes: frozenset[Route] = frozenset()
    proxies: frozenset[Proxy] = frozenset()
    sysctls: Mapping[str, str] = field(default_factory=dict)
    originals: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()


@dataclass(frozen=True)
class RouteChange:
    """One change of the kernel. `before` is the present value of a sysctl, else None."""

    action: ChangeKind
    thing: Thing
    before: str | None = None

    @property
    def reason(self) -> str:
        """The reason for the change, in words."""
        if self.action is ChangeKind.REMOVE:
            return "no longer desired"
        if self.action is ChangeKind.RESTORE:
            return "no longer desired: restored to the value before VAS"
        return self.thing.reason

    def as_json(self) -> dict[str, Any]:
        """Returns the change as `vas route plan --json` prints it."""
        row = {"action": self.action, "kind": kind_of(self.thing), **row_of(self.thing)}
        return row | ({"before": self.before} if self.before else {}) | {"reason": self.reason}


def kind_of(thing: Thing) -> str:
    """Returns the name of a thing's kind: address, rule, route, proxy or sysctl."""
    return _KINDS[type(thing)]


def row_of(thing: Thing) -> dict[str, str | int]:
    """Returns the fields of a thing for JSON, without the reason."""
    fields = ((name, getattr(thing, name)) for name in thing.__dataclass_fields__)
    return {
        name: value if isinstance(value, int) else str(value)
        for name, value in fields
        if name != "reason"
    }


def plan(found: CurrentState, desired: DesiredState) -> list[RouteChange]:
    """Returns the changes in an order in which no packet is lost.

    New things are complete before they are used, and in use before old ones are removed.
    """
    return [
        *_sysctls(found, desired.sysctls),
        *_added(desired.addresses, found.addresses),
        *_added(desired.routes, found.routes),
        *_added(desired.rules, found.rules),
        *_added(desired.proxies, found.proxies),
        *_removed(found.proxies, desired.proxies),
        *_removed(found.rules, desired.rules),
        *_removed(found.routes, desired.routes),
        *_removed(found.added, desired.addresses),
        *_restored(found, desired.sysctls),
    ]


def after(found: CurrentState, desired: DesiredState) -> CurrentState:
    """Returns the state after the planned changes, if nothing else changes the kernel."""
    set_now = {sysctl.name: sysctl.value for sysctl in desired.sysctls}
    restored = {name: value for name, value in found.originals.items() if name not in set_now}
    new = set_now.keys() - found.originals.keys() - found.absent
    before = {name: found.sysctls[name] for name in new if found.sysctls.get(name) != set_now[name]}
    added = (found.added & desired.addresses) | (desired.addresses - found.addresses)
    return CurrentState(
        addresses=(found.addresses - found.added) | added,
        added=added,
        rules=desired.rules,
        routes=desired.routes,
        proxies=desired.proxies,
        sysctls={**found.sysctls, **restored, **set_now},
        originals={**{n: v for n, v in found.originals.items() if n in set_now}, **before},
        absent=found.absent,
    )


def _added(desired: frozenset[Any], found: frozenset[Any]) -> Iterator[RouteChange]:
    for thing in sorted(desired - found, key=repr):
        yield RouteChange(ChangeKind.ADD, thing)


def _removed(found: frozenset[Any], desired: frozenset[Any]) -> Iterator[RouteChange]:
    for thing in sorted(found - desired, key=repr):
        yield RouteChange(ChangeKind.REMOVE, thing)


def _sysctls(found: CurrentState, desired: Iterable[Sysctl]) -> Iterator[RouteChange]:
    for sysctl in sorted(desired, key=repr):
        before = found.sysctls.get(sysctl.name)
        if before != sysctl.value and sysctl.name not in found.absent:
            yield RouteChange(ChangeKind.SET, sysctl, before)


def _restored(found: CurrentState, desired: Iterable[Sysctl]) -> Iterator[RouteChange]:
    kept = {sysctl.name for sysctl in desired}
    for name, original in sorted(found.originals.items()):
        if name not in kept:
            yield RouteChange(
                ChangeKind.RESTORE, Sysctl(name=name, value=original), found.sysctls.get(name)
            )
