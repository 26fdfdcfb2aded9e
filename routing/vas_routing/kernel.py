"""The edge: what a node's kernel has of VAS's, and changing it. Changing needs CAP_NET_ADMIN.

Routes, rules and proxies carry VAS's protocol number, so that what is VAS's is known without any
record. Sysctls and addresses cannot: their originals are in the journal before they change.
"""

from __future__ import annotations

import socket
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from ipaddress import ip_address, ip_interface, ip_network
from typing import Any

from pyroute2 import IPRoute

from vas_core.errors import VasError
from vas_core.journal import Journal
from vas_core.root import Root
from vas_routing.netlink import Refused, Request, add, remove, send
from vas_routing.plan import Action, Change, Found, Thing
from vas_routing.settings import MAIN_TABLE, Settings
from vas_routing.wish import OwnAddress, Proxy, Route, Rule, Sysctl

_NTF_PROXY = 8
_VERSIONS = {socket.AF_INET: 4, socket.AF_INET6: 6}
_SYSCTL = "sysctl:"
_ADDRESS = "address:"


@dataclass(frozen=True)
class Kernel:
    """The kernel of this network namespace."""

    settings: Settings
    root: Root = Root()

    def found(self, sysctls: Iterable[str], journal: Journal) -> Found:
        """All that is VAS's, with the values of these sysctls and of those changed before."""
        originals = {entry.target: entry.original for entry in journal.pending_rollback()}
        changed = {
            target.removeprefix(_SYSCTL): original
            for target, original in originals.items()
            if target.startswith(_SYSCTL) and original is not None
        }
        own = {target.removeprefix(_ADDRESS) for target in originals if target.startswith(_ADDRESS)}
        with IPRoute() as netlink:
            reader = _Reader(netlink, self.settings.protocol)
            return Found(
                addresses=frozenset(a for a in reader.addresses() if _address_key(a) in own),
                rules=frozenset(reader.rules()),
                routes=frozenset(reader.routes()),
                proxies=frozenset(reader.proxies()),
                sysctls=self._values({*sysctls, *changed}),
                originals=changed,
            )

    def apply(self, changes: Sequence[Change], journal: Journal) -> None:
        """Makes the changes in their order. Raises VasError at the first that the kernel refuses;
        what was changed until then is VAS's, and is found again."""
        batch: list[Change] = []
        for change in changes:
            if isinstance(change.thing, Sysctl):
                self._send(batch, journal)
                batch = []
                self._set(change, change.thing, journal)
            else:
                batch.append(change)
        self._send(batch, journal)

    def _send(self, changes: Sequence[Change], journal: Journal) -> None:
        new = [c.thing for c in changes if c.action is Action.ADD]
        for thing in new:
            if isinstance(thing, OwnAddress):
                journal.remember(_ADDRESS + _address_key(thing), None)
        try:
            send([self._request(change) for change in changes])
        except Refused as refused:
            raise VasError(
                f"the kernel refuses it: {refused}", where=str(changes[refused.index].thing)
            ) from None
        for change in changes:
            if isinstance(change.thing, OwnAddress):
                key = _ADDRESS + _address_key(change.thing)
                journal.confirm(key) if change.action is Action.ADD else journal.forget(key)

    def _request(self, change: Change) -> Request:
        thing = change.thing
        assert not isinstance(thing, Sysctl)
        device = 0 if isinstance(thing, Rule) else _index(thing.device)
        make = add if change.action is Action.ADD else remove
        return make(thing, device, self.settings.protocol)

    def _set(self, change: Change, sysctl: Sysctl, journal: Journal) -> None:
        target, path = _SYSCTL + sysctl.name, self.root.path(f"proc/sys/{sysctl.name}")
        if change.action is Action.SET:
            if change.before is None:
                raise VasError("there is no such kernel parameter", where=str(path))
            journal.remember(target, change.before)
            path.write_text(sysctl.value)
            journal.confirm(target)
            return
        if path.exists():
            path.write_text(sysctl.value)
        journal.forget(target)

    def _values(self, names: Iterable[str]) -> dict[str, str]:
        read = ((name, self.root.read(f"proc/sys/{name}")) for name in names)
        return {name: value for name, value in read if value is not None}


class _Reader:
    """Reads what carries a protocol number, and addresses, of both IP versions."""

    def __init__(self, netlink: IPRoute, protocol: int) -> None:
        self._netlink, self._protocol = netlink, protocol
        self._names = {link["index"]: link.get("ifname") for link in netlink.get_links()}

    def addresses(self) -> Iterator[OwnAddress]:
        for message in self._netlink.get_addr():
            address = message.get("local") or message.get("address")
            interface = ip_interface(f"{address}/{message['prefixlen']}")
            yield OwnAddress(interface=interface, device=self._names[message["index"]])

    def rules(self) -> Iterator[Rule]:
        for family, version in _VERSIONS.items():
            for message in self._netlink.get_rules(family=family):
                if message.get("protocol") == self._protocol:
                    table = message.get("table")
                    yield Rule(version=version, priority=message.get("priority"), table=table)

    def routes(self) -> Iterator[Route]:
        for family in _VERSIONS:
            for message in self._netlink.get_routes(family=family):
                if message["proto"] == self._protocol:
                    yield self._route(message)

    def _route(self, message: Any) -> Route:
        to = message.get("dst") or ("0.0.0.0" if message["family"] == socket.AF_INET else "::")
        # IPv6 has no metric 0: the kernel writes 1024.
        metric = message.get("priority") or 0
        return Route(
            destination=ip_network(f"{to}/{message['dst_len']}"),
            gateway=ip_address(message.get("gateway")),
            device=self._names[message.get("oif")],
            source=ip_address(message.get("prefsrc")),
            table=message.get("table"),
            metric=0 if message["family"] == socket.AF_INET6 and metric == 1024 else metric,
        )

    def proxies(self) -> Iterator[Proxy]:
        for family in _VERSIONS:
            for message in self._netlink.get_neighbours(family=family, flags=_NTF_PROXY):
                if message.get("protocol") == self._protocol:
                    device = self._names[message["ifindex"]]
                    yield Proxy(address=ip_address(message.get("dst")), device=device)


def _address_key(own: OwnAddress) -> str:
    return f"{own.device}:{own.interface}"


def _index(device: str) -> int:
    try:
        return socket.if_nametoindex(device)
    except OSError:
        hint = "the map and the kernel must call it the same"
        raise VasError("no such interface", where=device, hint=hint) from None
