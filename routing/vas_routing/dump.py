"""Reads VAS's routes from the kernel as bytes: 10,000 in a twentieth of pyroute2's time.

The kernel itself leaves out routes without the protocol number (strict checking, Linux 4.20), so a
node with the whole Internet's routes is read as quickly. Layouts as in `netlink.py`.
"""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator, Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address

from pyroute2.netlink import NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR
from pyroute2.netlink.rtnl import RTM_GETROUTE

from vas_core.errors import VasError
from vas_routing.desired import Address, Network, Route
from vas_routing.netlink import (
    ATTRIBUTE,
    HEADER,
    RTA_DST,
    RTA_GATEWAY,
    RTA_OIF,
    RTA_PREFSRC,
    RTA_PRIORITY,
    RTA_TABLE,
    RTMSG,
    U32,
)

_SOL_NETLINK, _NETLINK_GET_STRICT_CHK = 270, 12
_NLM_F_DUMP_INTR = 0x10  # it changed while it was read: what was read may never have been
_TRIES = 10
_PROTOCOL = 5
_ERRNO = struct.Struct("=i")
_NETWORKS: Mapping[int, type[IPv4Network | IPv6Network]] = {
    socket.AF_INET: IPv4Network,
    socket.AF_INET6: IPv6Network,
}
# IPv6 has no metric 0: the kernel writes 1024.
_NO_METRIC = {socket.AF_INET: 0, socket.AF_INET6: 1024}


def routes(protocol: int, names: Mapping[int, str]) -> frozenset[Route]:
    """Returns all routes that carry the protocol number, in any table.

    `names` has the names of interfaces by their index. Raises VasError for a route that VAS cannot
    have made.
    """
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.setsockopt(_SOL_NETLINK, _NETLINK_GET_STRICT_CHK, 1)
        bodies = [body for family in _NETWORKS for body in _steady(kernel, family, protocol)]
    # Asked again: were the kernel not to filter, others' routes would be taken for VAS's.
    return frozenset(
        _route(body, names) for body in bodies if RTMSG.unpack_from(body)[5] == protocol
    )


def _steady(kernel: socket.socket, family: int, protocol: int) -> list[bytes]:
    for _ in range(_TRIES):
        messages = list(_dump(kernel, family, protocol))
        if not any(flags & _NLM_F_DUMP_INTR for flags, _ in messages):
            return [body for _, body in messages]
    raise VasError("the routes change faster than they can be read", where="the kernel")


def _dump(kernel: socket.socket, family: int, protocol: int) -> Iterator[tuple[int, bytes]]:
    """The flags and the body of each message."""
    body = RTMSG.pack(family, 0, 0, 0, 0, protocol, 0, 0, 0)
    flags = NLM_F_REQUEST | NLM_F_DUMP
    kernel.send(HEADER.pack(HEADER.size + len(body), RTM_GETROUTE, flags, 0, 0) + body)
    while True:
        data = kernel.recv(1 << 16)
        at = 0
        while at < len(data):
            length, kind, flags, _, _ = HEADER.unpack_from(data, at)
            answer = data[at + HEADER.size : at + length]
            if kind in {NLMSG_DONE, NLMSG_ERROR}:
                _check(answer)
                return
            yield flags, answer
            at += (length + 3) & ~3


def _check(answer: bytes) -> None:
    (number,) = _ERRNO.unpack_from(answer)
    if number:
        raise VasError(f"it does not list its routes: {os.strerror(-number)}", where="the kernel")


def _route(body: bytes, names: Mapping[int, str]) -> Route:
    family, prefix, _, _, small, *_ = RTMSG.unpack_from(body)
    found = dict(_attributes(body, RTMSG.size))
    destination = _network(family, found.get(RTA_DST), prefix)
    try:
        gateway, source, device = found[RTA_GATEWAY], found[RTA_PREFSRC], _number(found[RTA_OIF])
    except KeyError:
        hint = "ip route del it, or have VAS use another protocol number in its settings"
        what = "has VAS's protocol number, but lacks the gateway or the source of VAS's routes"
        raise VasError(what, where=str(destination), hint=hint) from None
    metric = _number(found.get(RTA_PRIORITY, bytes(4)))
    return Route(
        destination=destination,
        gateway=_address(gateway),
        device=names[device],
        source=_address(source),
        table=_number(found[RTA_TABLE]) if RTA_TABLE in found else small,
        metric=0 if metric == _NO_METRIC[family] else metric,
    )


def _attributes(body: bytes, at: int) -> Iterator[tuple[int, bytes]]:
    while at < len(body):
        length, kind = ATTRIBUTE.unpack_from(body, at)
        yield kind, body[at + ATTRIBUTE.size : at + length]
        at += (length + 3) & ~3


def _network(family: int, packed: bytes | None, prefix: int) -> Network:
    return _NETWORKS[family]((packed or 0, prefix))


@lru_cache
def _address(packed: bytes) -> Address:
    return ip_address(packed)


def _number(packed: bytes) -> int:
    return int(U32.unpack(packed)[0])
