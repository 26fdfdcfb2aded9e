"""The probes of the route daemons: their bytes, and the sockets that they leave by.

A probe asks "do you hear me on this leg?", and an answer says so. Both carry what the sender
knows, so that a node learns at once of what only its peer can see.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass

from vas_routing.links import State
from vas_routing.wish import Address

_FORMAT = struct.Struct("!4sBBxxQ")
_MAGIC, _VERSION = b"VASR", 1
_ANSWER, _SRIOV_UP, _VIRTIO_UP = 1, 2, 4
# Nobody but a neighbour can send a packet that arrives with this (RFC 5082).
_TTL = 255
_IPV6_RECVHOPLIMIT, _IPV6_HOPLIMIT, _IPV6_FREEBIND = 51, 52, 78
_IP_RECVTTL, _IP_FREEBIND = 12, 15
_MOST_AT_ONCE = 256


@dataclass(frozen=True)
class Probe:
    """One message. `sriov`: the sender's SR-IOV leg; `virtio`: its virtio path to the receiver;
    `sent_ns`: when the one who asks did so, by its own clock, which the answer returns."""

    is_answer: bool
    sriov: State
    virtio: State
    sent_ns: int

    def encode(self) -> bytes:
        """The payload of the datagram."""
        flags = _ANSWER * self.is_answer
        flags |= _SRIOV_UP * (self.sriov is State.UP) | _VIRTIO_UP * (self.virtio is State.UP)
        return _FORMAT.pack(_MAGIC, _VERSION, flags, self.sent_ns)


def decode(data: bytes) -> Probe | None:
    """The probe in a payload; None for anything else, and for one of another version."""
    if len(data) != _FORMAT.size:
        return None
    magic, version, flags, sent_ns = _FORMAT.unpack(data)
    if (magic, version) != (_MAGIC, _VERSION):
        return None
    sriov, virtio = (State.UP if flags & bit else State.DOWN for bit in (_SRIOV_UP, _VIRTIO_UP))
    return Probe(bool(flags & _ANSWER), sriov, virtio, sent_ns)


class LegSocket:
    """A UDP socket of one leg: what is sent leaves by its interface, whatever the routes say."""

    def __init__(self, device: str, address: Address, port: int) -> None:
        self.device, self.index = device, socket.if_nametoindex(device)
        self._port, self._six = port, address.version == 6
        family = socket.AF_INET6 if self._six else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._set_options(device)
        self._socket.bind(self._to(address))

    def _set_options(self, device: str) -> None:
        name = device.encode()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name)
        options = (
            (_IPV6_FREEBIND, _IPV6_RECVHOPLIMIT, socket.IPV6_UNICAST_HOPS)
            if self._six
            else (_IP_FREEBIND, _IP_RECVTTL, socket.IP_TTL)
        )
        level = socket.IPPROTO_IPV6 if self._six else socket.IPPROTO_IP
        for option, value in zip(options, (1, 1, _TTL), strict=True):
            self._socket.setsockopt(level, option, value)

    def fileno(self) -> int:
        """For `select`."""
        return self._socket.fileno()

    def close(self) -> None:
        """Ends it."""
        self._socket.close()

    def send(self, probe: Probe, to: Address) -> None:
        """Sends, or not: a leg that is down loses it, which is what probes are for."""
        try:
            self._socket.sendto(probe.encode(), self._to(to))
        except OSError:
            return

    def received(self) -> Iterator[tuple[str, Probe]]:
        """What has arrived from neighbours: the sender's address, and the probe."""
        for _ in range(_MOST_AT_ONCE):
            try:
                data, control, _, source = self._socket.recvmsg(64, 64)
            except OSError:  # nothing more; or an ICMP error of an earlier one
                return
            probe = decode(data)
            if probe and _ttl(control) == _TTL:
                yield source[0].partition("%")[0], probe

    def _to(self, address: Address) -> tuple[str, int] | tuple[str, int, int, int]:
        here = (str(address), self._port)
        return (*here, 0, self.index if address.is_link_local else 0) if self._six else here


def _ttl(control: list[tuple[int, int, bytes]]) -> int | None:
    kinds = {(socket.IPPROTO_IP, socket.IP_TTL), (socket.IPPROTO_IPV6, _IPV6_HOPLIMIT)}
    for level, kind, value in control:
        if (level, kind) in kinds:
            return int(struct.unpack("=i", value[:4])[0])
    return None
