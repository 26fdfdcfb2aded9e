"""Opens the UDP socket of one leg: its packets leave by its interface, whatever the routes are."""

from __future__ import annotations

import ctypes
import socket
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from vas_routing.desired import Address

# Nobody but a neighbour can send a packet that arrives with this (RFC 5082).
_TTL = 255
_IPV6_RECVHOPLIMIT, _IPV6_HOPLIMIT, _IPV6_FREEBIND = 51, 52, 78
_IP_RECVTTL, _IP_FREEBIND = 12, 15
_SO_ATTACH_FILTER, _SO_MEMINFO = 26, 55
_MEMINFO = struct.Struct("=9I")  # SK_MEMINFO_*; the last is SK_MEMINFO_DROPS
_LOAD_HALF, _IF_EQUAL, _RETURN = 0x28, 0x15, 0x06  # classic BPF: ldh [k], jeq #k, ret #k
_INSTRUCTION = struct.Struct("=HBBI")
_MOST_AT_ONCE = 256
_MOST_BYTES = 128


@dataclass(frozen=True)
class Endpoint:
    """The interface, by its index, and the node's address on it, that a socket is bound to."""

    index: int
    address: Address
    port: int
    device: str = field(compare=False)


class LegSocket:
    """A UDP socket that is bound to one leg.

    It takes datagrams from the probes' own port alone, which is below 1024: only root can send from
    there. Others do not even reach its buffer, so that nobody can fill it.

    Raises OSError if the interface is gone or the port is taken.
    """

    def __init__(self, at: Endpoint) -> None:
        self.at, self._six = at, at.address.version == 6
        family = socket.AF_INET6 if self._six else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
        self._counted = 0
        try:
            self._set_options()
            self._socket.bind(self._to(at.address))
        except OSError:
            self._socket.close()
            raise

    def _set_options(self) -> None:
        name = self.at.device.encode()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, name)
        options = (
            (_IPV6_FREEBIND, _IPV6_RECVHOPLIMIT, socket.IPV6_UNICAST_HOPS)
            if self._six
            else (_IP_FREEBIND, _IP_RECVTTL, socket.IP_TTL)
        )
        level = socket.IPPROTO_IPV6 if self._six else socket.IPPROTO_IP
        for option, value in zip(options, (1, 1, _TTL), strict=True):
            self._socket.setsockopt(level, option, value)
        self._take_only(self.at.port)

    def _take_only(self, port: int) -> None:
        """A filter: of a UDP socket it sees the UDP header first, and so the source port."""
        steps = (
            (_LOAD_HALF, 0, 0, 0),
            (_IF_EQUAL, 0, 1, port),
            (_RETURN, 0, 0, 0xFFFFFFFF),
            (_RETURN, 0, 0, 0),
        )
        code = ctypes.create_string_buffer(b"".join(_INSTRUCTION.pack(*step) for step in steps))
        program = struct.pack("@HP", len(steps), ctypes.addressof(code))
        self._socket.setsockopt(socket.SOL_SOCKET, _SO_ATTACH_FILTER, program)

    def fileno(self) -> int:
        """Returns the file descriptor, for `select`."""
        return self._socket.fileno()

    def close(self) -> None:
        """Closes the socket of the leg."""
        self._socket.close()

    def send(self, data: bytes, to: Address) -> None:
        """Sends a datagram; does nothing where the leg is down, as probes exist to find that
        out."""
        try:
            self._socket.sendto(data, self._to(to))
        except OSError:
            return

    def received(self) -> Iterator[tuple[str, bytes | None]]:
        """Yields each datagram that arrived: the sender's address and the payload.

        The payload is None if the sender is not a neighbour (its TTL was lowered by a router).
        """
        for _ in range(_MOST_AT_ONCE):
            try:
                data, control, _, source = self._socket.recvmsg(_MOST_BYTES, 64)
            except OSError:  # nothing more; or an ICMP error of an earlier one
                return
            yield source[0].partition("%")[0], data if _ttl(control) == _TTL else None

    def dropped(self) -> int:
        """Returns how many datagrams the kernel dropped since the last call.

        The filter drops some, a full buffer others.
        """
        try:
            raw = self._socket.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
        except OSError:
            return 0
        total = int(_MEMINFO.unpack(raw)[-1])
        found, self._counted = (total - self._counted) & 0xFFFFFFFF, total
        return found

    def _to(self, address: Address) -> tuple[str, int] | tuple[str, int, int, int]:
        here = (str(address), self.at.port)
        return (*here, 0, self.at.index if address.is_link_local else 0) if self._six else here


def _ttl(control: list[tuple[int, int, bytes]]) -> int | None:
    kinds = {(socket.IPPROTO_IP, socket.IP_TTL), (socket.IPPROTO_IPV6, _IPV6_HOPLIMIT)}
    for level, kind, value in control:
        if (level, kind) in kinds:
            return int(struct.unpack("=i", value[:4])[0])
    return None
