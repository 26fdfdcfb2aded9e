"""What has to change for a node to have what is wished. Pure; `kernel.py` does it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from vas_routing.wish import OwnAddress, Proxy, Route, Rule, Sysctl, Wish

Thing = OwnAddress | Rule | Route | Proxy | Sysctl


class Action(StrEnum):
    """What is done with a thing."""

    ADD = "add"
    REMOVE = "remove"
    SET = "set"
    RESTORE = "restore"


@dataclass(frozen=True)
class Found:
    """What a node has: VAS's routes, rules and proxies, all addresses, and the values of sysctls.

    `added`: the addresses that VAS added; `originals`: what sysctls were before VAS changed them;
    `absent`: wished sysctls that the kernel does not have, as a NIC's that is unplugged.
    """

    addresses: frozenset[OwnAddress] = frozenset()
    added: frozenset[OwnAddress] = frozenset()
    rules: frozenset[Rule] = frozenset()
    routes: frozenset[Route] = frozenset()
    proxies: frozenset[Proxy] = frozenset()
    sysctls: Mapping[str, str] = field(default_factory=dict)
    originals: Mapping[str, str] = field(default_factory=dict)
    absent: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Change:
    """One step. `before` is a sysctl's value as found."""

    action: Action
    thing: Thing
    before: str | None = None

    @property
    def reason(self) -> str:
        """Why, in words."""
        if self.action is Action.REMOVE:
            return "not wished any more"
        if self.action is Action.RESTORE:
            return "not wished any more: as it was before VAS"
        return self.thing.reason

    def as_json(self) -> dict[str, Any]:
        """The step as `vas route plan --json` prints it."""
        row = {"action": self.action, "kind": kind_of(self.thing), **row_of(self.thing)}
        return row | ({"before": self.before} if self.before else {}) | {"reason": self.reason}


def kind_of(thing: Thing) -> str:
    """What it is, in a word."""
    return "address" if isinstance(thing, OwnAddress) else type(thing).__name__.lower()


def row_of(thing: Thing) -> dict[str, str | int]:
    """Its fields but the reason, as JSON has them."""
    fields = ((name, getattr(thing, name)) for name in thing.__dataclass_fields__)
    return {
        name: value if isinstance(value, int) else str(value)
        for name, value in fields
        if name != "reason"
    }


def plan(found: Found, wished: Wish) -> list[Change]:
    """The steps in an order in which no packet is lost: what is new is whole before it is used,
    and used before the old is taken away."""
    return [
        *_sysctls(found, wished.sysctls),
        *_added(wished.addresses, found.addresses),
        *_added(wished.routes, found.routes),
        *_added(wished.rules, found.rules),
        *_added(wished.proxies, found.proxies),
        *_removed(found.proxies, wished.proxies),
        *_removed(found.rules, wished.rules),
        *_removed(found.routes, wished.routes),
        *_removed(found.added, wished.addresses),
        *_restored(found, wished.sysctls),
    ]


def after(found: Found, wished: Wish) -> Found:
    """What is found when the plan for a wish was done, as far as nothing else changes it."""
    set_now = {sysctl.name: sysctl.value for sysctl in wished.sysctls}
    restored = {name: value for name, value in found.originals.items() if name not in set_now}
    new = set_now.keys() - found.originals.keys() - found.absent
    before = {name: found.sysctls[name] for name in new if found.sysctls.get(name) != set_now[name]}
    added = (found.added & wished.addresses) | (wished.addresses - found.addresses)
    return Found(
        addresses=(found.addresses - found.added) | added,
        added=added,
        rules=wished.rules,
        routes=wished.routes,
        proxies=wished.proxies,
        sysctls={**found.sysctls, **restored, **set_now},
        originals={**{n: v for n, v in found.originals.items() if n in set_now}, **before},
        absent=found.absent,
    )


def _added(wished: frozenset[Any], found: frozenset[Any]) -> Iterator[Change]:
    for thing in sorted(wished - found, key=repr):
        yield Change(Action.ADD, thing)


def _removed(found: frozenset[Any], wished: frozenset[Any]) -> Iterator[Change]:
    for thing in sorted(found - wished, key=repr):
        yield Change(Action.REMOVE, thing)


def _sysctls(found: Found, wished: Iterable[Sysctl]) -> Iterator[Change]:
    for sysctl in sorted(wished, key=repr):
        before = found.sysctls.get(sysctl.name)
        if before != sysctl.value and sysctl.name not in found.absent:
            yield Change(Action.SET, sysctl, before)


def _restored(found: Found, wished: Iterable[Sysctl]) -> Iterator[Change]:
    kept = {sysctl.name for sysctl in wished}
    for name, original in sorted(found.originals.items()):
        if name not in kept:
            yield Change(Action.RESTORE, Sysctl(name=name, value=original), found.sysctls.get(name))
