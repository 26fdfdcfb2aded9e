"""Encodes rtnetlink requests as bytes, so that any number of changes is one write.

`pyroute2` reads the kernel and listens to it. It takes seconds to encode 10,000 routes; this
module, with its few fixed messages, takes a tenth of a second. Layouts: linux/rtnetlink.h,
linux/fib_rules.h, linux/neighbour.h, linux/if_addr.h. Numbers are in the machine's byte order.
"""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass

from pyroute2.netlink import (
    NLM_F_ACK,
    NLM_F_CREATE,
    NLM_F_EXCL,
    NLM_F_REPLACE,
    NLM_F_REQUEST,
    NLMSG_ERROR,
)
from pyroute2.netlink.rtnl import (
    RTM_DELADDR,
    RTM_DELNEIGH,
    RTM_DELROUTE,
    RTM_DELRULE,
    RTM_NEWADDR,
    RTM_NEWLINK,
    RTM_NEWNEIGH,
    RTM_NEWROUTE,
    RTM_NEWRULE,
)

from vas_routing.desired import Address, OwnAddress, PolicyRule, Proxy, Route

HEADER = struct.Struct("=IHHII")
ATTRIBUTE = struct.Struct("=HH")
U32 = struct.Struct("=I")
RTMSG = struct.Struct("=BBBBBBBBI")
_NDMSG = struct.Struct("=BxxxiHBB")
_IFADDRMSG = struct.Struct("=BBBBI")
_IFINFOMSG = struct.Struct("=BxHiII")
ERROR = struct.Struct("=iIHHII")
_UNICAST, _TO_TABLE = 1, 1
_PROXY, _PERMANENT = 0x08, 0x80
_IFF_UP = 0x01
_NO_DETECTION = 0x02  # IFA_F_NODAD: the leg has two ends, and we name both
# Attribute numbers: RTA_*, FRA_*, NDA_*, IFA_*.
RTA_DST, RTA_OIF, RTA_GATEWAY, RTA_PRIORITY, RTA_PREFSRC, RTA_TABLE = 1, 4, 5, 6, 7, 15
_FRA_PRIORITY, _FRA_TABLE, _FRA_PROTOCOL = 6, 15, 21
_NDA_DST, _NDA_PROTOCOL = 1, 12
_IFA_ADDRESS, _IFA_LOCAL = 1, 2
# The answers to so much fit into a receive buffer of the usual size; each takes some 800 bytes.
_BATCH_BYTES = 8 << 10
_GONE = {errno.ESRCH, errno.ENOENT, errno.EADDRNOTAVAIL}


@dataclass(frozen=True)
class NetlinkRefused(Exception):
    """The kernel refused the request at `index` of a batch."""

    index: int
    number: int

    def __str__(self) -> str:
        return os.strerror(self.number)


@dataclass(frozen=True)
class NetlinkRequest:
    """One message without its header.

    `removes`: the request removes a thing, and one that is gone already is not an error.
    """

    kind: int
    flags: int
    body: bytes
    removes: bool = False


def add(
    thing: Route | PolicyRule | Proxy | OwnAddress, device: int, protocol: int
) -> NetlinkRequest:
    """Returns the request that makes a thing, whether it exists or not; `device` is an index."""
    if isinstance(thing, Route):
        body = _route(thing, device, protocol)
        return NetlinkRequest(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE, body)
    if isinstance(thing, PolicyRule):
        return NetlinkRequest(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL, _rule(thing, protocol))
    if isinstance(thing, Proxy):
        body = _proxy(thing, device, protocol)
        return NetlinkRequest(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE, body)
    return NetlinkRequest(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE, _address(thing, device))


def remove(
    thing: Route | PolicyRule | Proxy | OwnAddress, device: int, protocol: int
) -> NetlinkRequest:
    """Returns the request that removes a thing; `device` is an index."""
    if isinstance(thing, Route):
        return NetlinkRequest(RTM_DELROUTE, 0, _route(thing, device, protocol), removes=True)
    if isinstance(thing, PolicyRule):
        return NetlinkRequest(RTM_DELRULE, 0, _rule(thing, protocol), removes=True)
    if isinstance(thing, Proxy):
        return NetlinkRequest(RTM_DELNEIGH, 0, _proxy(thing, device, protocol), removes=True)
    return NetlinkRequest(RTM_DELADDR, 0, _address(thing, device), removes=True)


def up(device: int) -> NetlinkRequest:
    """Returns the request that sets an interface up, whether it is up or not."""
    body = _IFINFOMSG.pack(socket.AF_UNSPEC, 0, device, _IFF_UP, _IFF_UP)
    return NetlinkRequest(RTM_NEWLINK, 0, body)


def send(requests: Sequence[NetlinkRequest]) -> None:
    """Sends all requests in order and waits for every answer.

    Raises NetlinkRefused for the first that fails: those after it in the same 8 KiB were tried,
    later ones were not.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.bind((0, 0))
        batch, first = bytearray(), 0
        for index, request in enumerate(requests):
            batch += _message(request, index)
            if len(batch) >= _BATCH_BYTES or index == len(requests) - 1:
                kernel.send(batch)
                _answers(kernel, requests, first, index + 1)
                batch, first = bytearray(), index + 1


def _message(request: NetlinkRequest, index: int) -> bytes:
    flags = request.flags | NLM_F_REQUEST | NLM_F_ACK
    length = HEADER.size + len(request.body)
    return HEADER.pack(length, request.kind, flags, index, 0) + request.body


def _answers(
    kernel: socket.socket, requests: Sequence[NetlinkRequest], first: int, end: int
) -> None:
    missing, refused = end - first, None
    while missing:
        data = kernel.recv(1 << 16)
        at = 0
        while at < len(data):
            length, kind, _, index, _ = HEADER.unpack_from(data, at)
            if kind == NLMSG_ERROR:
                missing -= 1
                number = -ERROR.unpack_from(data, at + HEADER.size)[0]
                if number and not _is_there_or_gone(requests[index], number):
                    refused = refused or NetlinkRefused(index, number)
            at += (length + 3) & ~3
    if refused:
        raise refused


def _is_there_or_gone(request: NetlinkRequest, number: int) -> bool:
    if request.removes:
        return number in _GONE
    return number == errno.EEXIST and request.kind == RTM_NEWRULE


def _route(route: Route, device: int, protocol: int) -> bytes:
    to = route.destination
    small = route.table if route.table < 256 else 0
    head = RTMSG.pack(_family(route.source), to.prefixlen, 0, 0, small, protocol, 0, _UNICAST, 0)
    return head + b"".join(
        (
            _attribute(RTA_DST, to.network_address.packed),
            _attribute(RTA_GATEWAY, route.gateway.packed),
            _attribute(RTA_OIF, U32.pack(device)),
            _attribute(RTA_PREFSRC, route.source.packed),
            _attribute(RTA_TABLE, U32.pack(route.table)),
            _attribute(RTA_PRIORITY, U32.pack(route.metric)) if route.metric else b"",
        )
    )


def _rule(rule: PolicyRule, protocol: int) -> bytes:
    family = socket.AF_INET if rule.version == 4 else socket.AF_INET6
    small = rule.table if rule.table < 256 else 0
    head = RTMSG.pack(family, 0, 0, 0, small, 0, 0, _TO_TABLE, 0)
    return head + b"".join(
        (
            _attribute(_FRA_PRIORITY, U32.pack(rule.priority)),
            _attribute(_FRA_TABLE, U32.pack(rule.table)),
            _attribute(_FRA_PROTOCOL, bytes((protocol,))),
        )
    )


def _proxy(proxy: Proxy, device: int, protocol: int) -> bytes:
    head = _NDMSG.pack(_family(proxy.address), device, _PERMANENT, _PROXY, 0)
    to = _attribute(_NDA_DST, proxy.address.packed)
    return head + to + _attribute(_NDA_PROTOCOL, bytes((protocol,)))


def _address(own: OwnAddress, device: int) -> bytes:
    own_ip, prefix = own.interface.ip, own.interface.network.prefixlen
    head = _IFADDRMSG.pack(_family(own_ip), prefix, _NO_DETECTION, 0, device)
    packed = own_ip.packed
    return head + _attribute(_IFA_LOCAL, packed) + _attribute(_IFA_ADDRESS, packed)


def _attribute(kind: int, payload: bytes) -> bytes:
    length = ATTRIBUTE.size + len(payload)
    return ATTRIBUTE.pack(length, kind) + payload + bytes(-length % 4)


def _family(address: Address) -> int:
    return socket.AF_INET if address.version == 4 else socket.AF_INET6
