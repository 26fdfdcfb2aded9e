"""Measures a path packet by packet: `udp_probe.py serve ADDRESS`, `udp_probe.py ask ADDRESS RATE`.

`ask` sends RATE datagrams a second until its stdin ends, then prints what came back, as JSON:
`sent`, `lost`, `overrun` (arrived, but one of the two had no time to take it, and its socket was
full) and `gap_ms`, the longest time without an answer. Uses nothing but Python itself.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import sys
import time

PORT = 9999
_NUMBER, _DROPS = struct.Struct("!Q"), struct.Struct("!I")
_SO_MEMINFO, _MEMINFO = 55, struct.Struct("=9I")
# What was not sent while this process stood still is not made up for: it would come as a burst.
_MOST_BEHIND_SECONDS = 0.02


def serve(address: str) -> None:
    """Sends every datagram back to where it came from."""
    here = _socket(address)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    here.bind((address, PORT))
    print("ready", flush=True)
    while True:
        data, source = here.recvfrom(64)
        here.sendto(data + _DROPS.pack(_drops(here)), source)


def ask(address: str, rate: int) -> None:
    """Sends RATE datagrams a second and takes the answers, until stdin has a line or ends.

    Prints a line of JSON with the counts.
    """
    here = _socket(address)
    here.setblocking(False)
    sent, answered, overrun, gap = 0, set(), 0, 0.0
    began = last = time.monotonic()
    print("ready", flush=True)
    stopping = None
    while stopping is None or time.monotonic() < stopping:
        began = max(began, time.monotonic() - _MOST_BEHIND_SECONDS - sent / rate)
        due = int((time.monotonic() - began) * rate) if stopping is None else sent
        while sent < due:
            _send(here, address, sent)
            sent += 1
        ready, _, _ = select.select(
            [here, *([sys.stdin] if stopping is None else [])], [], [], 5e-4
        )
        if sys.stdin in ready:
            stopping = time.monotonic() + 0.5
        if here in ready:
            now = time.monotonic()
            gap, last = max(gap, now - last), now
            for number, drops in _received(here):
                answered.add(number)
                overrun = max(overrun, drops)
    overrun += _drops(here)
    lost = sent - len(answered) - overrun
    account = {"sent": sent, "lost": lost, "overrun": overrun, "gap_ms": round(gap * 1e3, 1)}
    print(json.dumps(account))


def _socket(address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)


def _send(here: socket.socket, address: str, number: int) -> None:
    try:
        here.sendto(_NUMBER.pack(number), (address, PORT))
    except OSError:
        return  # no route: it counts as lost


def _received(here: socket.socket) -> list[tuple[int, int]]:
    """The numbers that came back, each with what the other socket had no room for until then."""
    found: list[tuple[int, int]] = []
    while True:
        try:
            data = here.recv(64)
        except OSError:
            return found
        found.append((_NUMBER.unpack_from(data)[0], _DROPS.unpack_from(data, _NUMBER.size)[0]))


def _drops(here: socket.socket) -> int:
    """How many datagrams arrived while the socket was full (SK_MEMINFO_DROPS)."""
    return int(_MEMINFO.unpack(here.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size))[8])


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        ask(sys.argv[2], int(sys.argv[3]))
