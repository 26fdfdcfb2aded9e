"""Tells a network which MAC an address has now: gratuitous ARP, unsolicited neighbour adverts.

Both kinds of ARP are sent, as caches differ in which they believe. Each is sent several times, as
nobody confirms one (RFC 5227 section 2.3, RFC 4861 section 7.2.6).
"""

from __future__ import annotations

import heapq
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from ipaddress import IPv6Address

from vas_routing.desired import Address

AFTER_SECONDS = (0.0, 0.05, 0.2, 0.5, 1.5)
"""When an address is announced."""

_BROADCAST = b"\xff" * 6
_ARP, _IPV6 = 0x0806, 0x86DD
_REQUEST, _REPLY = 1, 2
_ALL_NODES = IPv6Address("ff02::1").packed
_ALL_NODES_MAC = bytes.fromhex("333300000001")
_ADVERT, _OVERRIDE, _TARGET_MAC = 136, 0x20000000, b"\x02\x01"


def frames(address: Address, mac: bytes) -> list[bytes]:
    """Returns the Ethernet frames that tell a network that an address has a MAC."""
    if address.version == 4:
        return [_arp(kind, address.packed, mac) for kind in (_REQUEST, _REPLY)]
    return [_advert(address.packed, mac)]


def _arp(kind: int, address: bytes, mac: bytes) -> bytes:
    body = struct.pack("!HHBBH", 1, 0x0800, 6, 4, kind) + mac + address + _BROADCAST + address
    return _BROADCAST + mac + struct.pack("!H", _ARP) + body


def _advert(address: bytes, mac: bytes) -> bytes:
    body = struct.pack("!BBHI", _ADVERT, 0, 0, _OVERRIDE) + address + _TARGET_MAC + mac
    pseudo = address + _ALL_NODES + struct.pack("!IxxxB", len(body), socket.IPPROTO_ICMPV6)
    body = body[:2] + struct.pack("!H", _checksum(pseudo + body)) + body[4:]
    header = struct.pack("!IHBB", 6 << 28, len(body), socket.IPPROTO_ICMPV6, 255)
    return _ALL_NODES_MAC + mac + struct.pack("!H", _IPV6) + header + address + _ALL_NODES + body


def _checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071) of an even number of bytes."""
    total = sum(int(word) for word in struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


@dataclass
class Announcer:
    """Sends announcements of addresses when they are due.

    `send` sends a frame by an interface, and `mac_of` returns an interface's MAC; both raise
    OSError if the interface is not there.
    """

    send: Callable[[str, bytes], None]
    mac_of: Callable[[str], bytes]
    _due: list[tuple[float, str, Address]] = field(default_factory=list)

    def announce(self, address: Address, device: str, now: float) -> None:
        """Plans all announcements of an address on an interface; replaces those planned before."""
        self.forget(address)
        for after in AFTER_SECONDS:
            heapq.heappush(self._due, (now + after, device, address))

    def forget(self, address: Address) -> None:
        """Drops the planned announcements of an address."""
        self._due = [due for due in self._due if due[2] != address]
        heapq.heapify(self._due)

    def rename(self, device: str, new: str) -> None:
        """Moves the planned announcements of an interface to the interface's new name."""
        self._due = [(when, new if by == device else by, what) for when, by, what in self._due]
        heapq.heapify(self._due)

    def is_announcing(self, address: Address) -> bool:
        """Returns whether announcements of an address are still planned."""
        return any(due[2] == address for due in self._due)

    def run(self, now: float) -> None:
        """Sends the announcements that are due; `now` is in seconds."""
        while self._due and self._due[0][0] <= now:
            _, device, address = heapq.heappop(self._due)
            try:
                mac = self.mac_of(device)
                for frame in frames(address, mac):
                    self.send(device, frame)
            except OSError:
                continue  # a leg that went down again: nobody would hear it


def open_packet_socket() -> socket.socket:
    """Opens a socket that sends frames and receives none.

    Raises PermissionError without CAP_NET_RAW, which only opening needs, not sending.
    """
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
