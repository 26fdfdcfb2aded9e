"""Reads and changes VAS's routes and settings in a node's kernel. Changing needs CAP_NET_ADMIN.

Routes, rules and proxies carry VAS's protocol number, so that they are known as VAS's without any
record. Sysctls and addresses cannot carry it: their originals are in the journal before they
change.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from ipaddress import ip_address, ip_interface
from itertools import groupby

from pyroute2 import IPRoute
from pyroute2.netlink.rtnl import RTM_GETNEIGH
from pyroute2.netlink.rtnl.ndmsg import ndmsg

from vas_core.errors import VasError
from vas_core.journal import Journal, JournalEntry
from vas_core.root import Root
from vas_routing import dump
from vas_routing.desired import OwnAddress, PolicyRule, Proxy, Route, Sysctl
from vas_routing.netlink import NetlinkRefused, NetlinkRequest, add, remove, send, up
from vas_routing.plan import ChangeKind, CurrentState, RouteChange, Thing
from vas_routing.renames import ADDRESS, SYSCTL, indices, orphans
from vas_routing.settings import RouteSettings

_NTF_PROXY = 8
_VERSIONS = {socket.AF_INET: 4, socket.AF_INET6: 6}


@dataclass(frozen=True)
class RouteKernel:
    """The kernel of this network namespace."""

    settings: RouteSettings
    root: Root = field(default_factory=Root)

    def found(self, sysctls: Iterable[str], changed: Iterable[JournalEntry]) -> CurrentState:
        """Returns everything that is VAS's, with the values of `sysctls` and of those in
        `changed`, the journal's entries."""
        record = {entry.target: entry.original for entry in changed}
        originals = {
            target.removeprefix(SYSCTL): original
            for target, original in record.items()
            if target.startswith(SYSCTL) and original is not None
        }
        wanted = {*sysctls, *originals}
        values = self.sysctls(wanted)
        with IPRoute() as netlink:
            reader = _Reader(netlink, self.settings.protocol)
            addresses = frozenset(reader.addresses())
            return CurrentState(
                addresses=addresses,
                added=frozenset(a for a in addresses if _key(a) in record),
                rules=frozenset(reader.rules()),
                routes=reader.routes(),
                proxies=frozenset(reader.proxies()),
                sysctls=values,
                originals=originals,
                absent=frozenset(wanted - values.keys()),
            )

    def apply(self, changes: Sequence[RouteChange], journal: Journal) -> None:
        """Makes the changes in their order, until the kernel refuses one.

        The changes made until then stay; the next reading finds them. Raises VasError for a refused
        address, route or rule; OSError for a refused sysctl, and if the journal cannot be written.
        """
        for are_sysctls, group in groupby(changes, lambda change: isinstance(change.thing, Sysctl)):
            (self._set if are_sysctls else self._send)(list(group), journal)

    def _send(self, changes: Sequence[RouteChange], journal: Journal) -> None:
        index = cache(_index)
        sent = [(change, r) for change in changes for r in self._requests(change, index)]
        new = _addresses(changes, ChangeKind.ADD)
        journal.remember(dict.fromkeys(new) | _indices(new))
        try:
            send([request for _, request in sent])
        except NetlinkRefused as refused:
            raise VasError(
                f"the kernel refuses it: {refused}", where=str(sent[refused.index][0].thing)
            ) from None
        journal.confirm(new)
        _forget(journal, _addresses(changes, ChangeKind.REMOVE))

    def _requests(
        self, change: RouteChange, index: Callable[[str], int]
    ) -> Iterator[NetlinkRequest]:
        thing = change.thing
        assert not isinstance(thing, Sysctl)
        device = 0 if isinstance(thing, PolicyRule) else index(thing.device)
        make = add if change.action is ChangeKind.ADD else remove
        yield make(thing, device, self.settings.protocol)
        # A guest's virtio leg is nobody else's to set up. Later on, who sets it down has a reason.
        if isinstance(thing, OwnAddress) and change.action is ChangeKind.ADD:
            yield up(device)

    def _set(self, changes: Sequence[RouteChange], journal: Journal) -> None:
        new = {_key(c.thing): c.before for c in changes if c.action is ChangeKind.SET}
        journal.remember(new | _indices(new))
        for change in changes:
            self._write(change)
        journal.confirm(new)
        _forget(journal, [_key(c.thing) for c in changes if c.action is ChangeKind.RESTORE])

    def _write(self, change: RouteChange) -> None:
        assert isinstance(change.thing, Sysctl)
        path = self.root.path(f"proc/sys/{change.thing.name}")
        # A NIC that is gone has taken its parameters with it; nothing is left to restore.
        if change.action is ChangeKind.SET or path.exists():
            path.write_text(change.thing.value)

    def sysctls(self, names: Iterable[str]) -> dict[str, str]:
        """Returns the values of those sysctls that exist."""
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

    def rules(self) -> Iterator[PolicyRule]:
        for family, version in _VERSIONS.items():
            for message in self._netlink.get_rules(family=family):
                if message.get("protocol") == self._protocol:
                    priority, table = message.get("priority") or 0, message.get("table")
                    yield PolicyRule(version=version, priority=priority, table=table)

    def routes(self) -> frozenset[Route]:
        return dump.routes(self._protocol, self._names)

    def proxies(self) -> Iterator[Proxy]:
        for family in _VERSIONS:
            # get_neighbours() filters what it is given by flags, and asks for no proxies.
            asked = ndmsg()
            asked["family"], asked["flags"] = family, _NTF_PROXY
            self._netlink.status["nlm_generator"] = False
            for message in self._netlink.nlm_request(asked, RTM_GETNEIGH):
                if message.get("protocol") == self._protocol:
                    device = self._names[message["ifindex"]]
                    yield Proxy(address=ip_address(message.get("dst")), device=device)


def _key(thing: Thing) -> str:
    """The name of a thing in the journal."""
    if isinstance(thing, Sysctl):
        return SYSCTL + thing.name
    assert isinstance(thing, OwnAddress)
    return f"{ADDRESS}{thing.device}:{thing.interface}"


def _indices(targets: Iterable[str]) -> dict[str, str | None]:
    """The journal's entries with the indices of these targets' interfaces."""
    return dict(indices(targets, {name: index for index, name in socket.if_nameindex()}))


def _forget(journal: Journal, targets: Sequence[str]) -> None:
    if targets:
        journal.forget([*targets])
        journal.forget(orphans(journal.pending_rollback()))


def _addresses(changes: Iterable[RouteChange], action: ChangeKind) -> list[str]:
    return [
        _key(c.thing) for c in changes if c.action is action and isinstance(c.thing, OwnAddress)
    ]


def _index(device: str) -> int:
    try:
        return socket.if_nametoindex(device)
    except OSError:
        hint = "the map and the kernel must call it the same"
        raise VasError("no such interface", where=device, hint=hint) from None
