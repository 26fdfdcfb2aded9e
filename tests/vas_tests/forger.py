"""Sends forged probes from a node's own address, as a task in a guest can; prints how many.

forger.py user TO SOURCE DEVICE COUNT     as nobody, from ports that anyone may use
forger.py root TO SOURCE DEVICE COUNT     as root without the key, from the probes' own port
forger.py replay TO SOURCE DEVICE HEX...  as root, what was recorded
forger.py record DEVICE COUNT             prints probes that leave by a device, as hex
"""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys

from vas_routing.daemon.keys import MAC_BYTES
from vas_routing.daemon.wire import SIZE, Challenge, RouteProbe
from vas_routing.links import PathState
from vas_routing.settings import RouteSettings

PORT = RouteSettings().probe_port
_UDP_AT = 20
_MAC = 0x0003


def lies(signed: bool) -> list[bytes]:
    """Returns datagrams that claim both paths of their sender to be down, and malformed ones.

    Among them are a question, an answer, and a datagram of version 1. `signed`: with random
    bytes in place of the code that the key makes, not zeros.
    """
    code = os.urandom(MAC_BYTES) if signed else bytes(MAC_BYTES)
    down = (PathState.DOWN, PathState.DOWN, Challenge(1, 1), Challenge(2, 2))
    new = [RouteProbe(answer, *down).encode() + code for answer in (False, True)]
    return [*new, struct.pack("!4sBBxxQ", b"VASR", 1, 0, 1), b"x" * SIZE, b""]


def as_user(to: str, source: str, device: str, count: int) -> int:
    """Sends forged datagrams from an ephemeral port, as a user without rights; returns how many.

    Raises SystemExit if the kernel lets the user take a port below 1024.
    """
    become_nobody()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        try:
            sending.bind((source, PORT - 1))
        except PermissionError:
            sending.bind((source, 0))
        else:
            raise SystemExit("a user may take a port below 1024 here")
        # Linux 5.7 lets anyone do so: by the VF too, whatever the routes say.
        sending.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        sending.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
        return sum(_sent(sending, each, to) for _ in range(count) for each in lies(signed=False))


def become_nobody() -> None:
    """Gives up all rights; in a user namespace without other users, all capabilities.

    Raises OSError if the kernel refuses.
    """
    try:
        os.setgroups([])
        os.setresgid(65534, 65534, 65534)
        os.setresuid(65534, 65534, 65534)
    except PermissionError:
        libc = ctypes.CDLL(None, use_errno=True)
        header, nothing = struct.pack("=Ii", 0x20080522, 0), bytes(24)
        if libc.capset(header, nothing):
            raise OSError(ctypes.get_errno(), "capset") from None


def _sent(sending: socket.socket, data: bytes, to: str) -> bool:
    sending.sendto(data, (to, PORT))
    return True


def as_root(to: str, source: str, device: str, payloads: list[bytes]) -> int:
    """Sends payloads from the probes' own port, and returns how many; needs root.

    It takes a raw socket, as vas-routed has the port.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_UDP) as sending:
        sending.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
        sending.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 255)
        sending.bind((source, 0))
        for data in payloads:
            header = struct.pack("!HHHH", PORT, PORT, 8 + len(data), 0)
            sending.sendto(header + data, (to, 0))
    return len(payloads)


def record(device: str, count: int) -> list[str]:
    """Returns the payloads, in hex, of the next `count` probes that leave this node by a device."""
    found: list[str] = []
    with socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_MAC)) as sniffing:
        sniffing.bind((device, _MAC))
        while len(found) < count:
            data, address = sniffing.recvfrom(2048)
            if address[2] == socket.PACKET_OUTGOING and len(data) == _UDP_AT + 8 + SIZE:
                found.append(data[_UDP_AT + 8 :].hex())
    return found


def main() -> None:
    """Does what the program's arguments say, and prints how many datagrams were sent."""
    kind, *rest = sys.argv[1:]
    if kind == "record":
        print(*record(rest[0], int(rest[1])))
        return
    to, source, device, *rest = rest
    if kind == "user":
        print(as_user(to, source, device, int(rest[0])))
    elif kind == "root":
        print(as_root(to, source, device, [x for _ in range(int(rest[0])) for x in lies(True)]))
    else:
        print(as_root(to, source, device, [bytes.fromhex(each) for each in rest]))


if __name__ == "__main__":
    main()
