"""Reads the kernel's notifications: interfaces that change, routes and rules that others touch."""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator
from dataclasses import dataclass

from pyroute2.netlink.rtnl import (
    RTM_DELADDR,
    RTM_DELLINK,
    RTM_DELROUTE,
    RTM_DELRULE,
    RTM_NEWLINK,
    RTMGRP_IPV4_IFADDR,
    RTMGRP_IPV4_ROUTE,
    RTMGRP_IPV4_RULE,
    RTMGRP_IPV6_IFADDR,
    RTMGRP_IPV6_ROUTE,
    RTMGRP_LINK,
)
from pyroute2.netlink.rtnl.marshal import MarshalRtnl

from vas_routing.netlink import HEADER
from vas_routing.observe import has_carrier

_GROUPS = (
    RTMGRP_LINK
    | RTMGRP_IPV4_IFADDR
    | RTMGRP_IPV4_ROUTE
    | RTMGRP_IPV4_RULE
    | RTMGRP_IPV6_IFADDR
    | RTMGRP_IPV6_ROUTE
)
_RTNLGRP_IPV6_RULE = 19
_SOL_NETLINK, _NETLINK_ADD_MEMBERSHIP = 270, 1
_PROTOCOL_AT = 5  # in struct rtmsg
_MOST_AT_ONCE = 64
_LINKS = {RTM_NEWLINK, RTM_DELLINK}
_LOSSES = {RTM_DELRULE, RTM_DELADDR}


@dataclass(frozen=True)
class LinkChange:
    """A notification of an interface's state; one that is gone is reported without a carrier.

    `index` stays the same when an interface is renamed. `master` is the index of the bridge that it
    is a port of.
    """

    index: int
    name: str
    carrier: bool
    master: int | None


@dataclass(frozen=True)
class Disturbed:
    """A notification that somebody may have removed a route, rule or address of VAS."""


@dataclass(frozen=True)
class Overflow:
    """A sign that the kernel dropped notifications: everything must be read again."""


Event = LinkChange | Disturbed | Overflow


class Events:
    """A subscription to notifications in this network namespace.

    `protocol` is the protocol number that VAS's routes carry.
    """

    def __init__(self, protocol: int = 0, buffer_bytes: int | None = None) -> None:
        self.protocol, self._parser = protocol, MarshalRtnl()
        self._socket = socket.socket(
            socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.NETLINK_ROUTE
        )
        if buffer_bytes:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer_bytes)
        self._socket.bind((0, _GROUPS))
        self._socket.setsockopt(_SOL_NETLINK, _NETLINK_ADD_MEMBERSHIP, _RTNLGRP_IPV6_RULE)

    def fileno(self) -> int:
        """Returns the file descriptor, for `select`."""
        return self._socket.fileno()

    def close(self) -> None:
        """Ends the subscription and closes its socket."""
        self._socket.close()

    def read(self) -> Iterator[Event]:
        """Yields the notifications since the last call, of at most 64 datagrams."""
        for _ in range(_MOST_AT_ONCE):
            try:
                data = self._socket.recv(1 << 16)
            except BlockingIOError:
                return
            except OSError as wrong:
                if wrong.errno != errno.ENOBUFS:
                    raise
                yield Overflow()
                continue
            yield from self._events(data)

    def _events(self, data: bytes) -> Iterator[Event]:
        at = 0
        while at + HEADER.size <= len(data):
            length, kind, *_ = HEADER.unpack_from(data, at)
            body = at + HEADER.size
            if kind in _LINKS:
                yield from self._link(data[at : at + length], kind)
            elif kind in _LOSSES or (
                kind == RTM_DELROUTE and data[body + _PROTOCOL_AT] == self.protocol
            ):
                yield Disturbed()
            at += (length + 3) & ~3

    def _link(self, message: bytes, kind: int) -> Iterator[Event]:
        for link in self._parser.parse(message):
            if link["family"] == socket.AF_BRIDGE:
                continue  # of the port alone, without what its interface is
            there = kind == RTM_NEWLINK and has_carrier(link)
            yield LinkChange(link["index"], link.get("ifname"), there, link.get("master"))
