"""Measures a path packet by packet: `udp_probe.py serve ADDRESS`, `udp_probe.py ask ADDRESS RATE`.

`ask` sends RATE datagrams a second until its stdin ends, then prints what came back, as JSON:
`sent`, `lost`, and `gap_ms`, the longest time without an answer. Uses nothing but Python itself.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time

PORT = 9999


def serve(address: str) -> None:
    """Sends every datagram back to where it came from."""
    here = _socket(address)
    here.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    here.bind((address, PORT))
    print("ready", flush=True)
    while True:
        data, source = here.recvfrom(64)
        here.sendto(data, source)


def ask(address: str, rate: int) -> None:
    """Sends at a rate a second, takes what comes back, and prints the account of it."""
    here = _socket(address)
    here.setblocking(False)
    sent, answered, gap = 0, set(), 0.0
    began = last = time.monotonic()
    print("ready", flush=True)
    stopping = None
    while stopping is None or time.monotonic() < stopping:
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
            answered.update(_received(here))
    account = {"sent": sent, "lost": sent - len(answered), "gap_ms": round(gap * 1e3, 1)}
    print(json.dumps(account))


def _socket(address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)


def _send(here: socket.socket, address: str, number: int) -> None:
    try:
        here.sendto(number.to_bytes(8, "big"), (address, PORT))
    except OSError:
        return  # no route: it counts as lost


def _received(here: socket.socket) -> list[int]:
    numbers = []
    while True:
        try:
            numbers.append(int.from_bytes(here.recv(64), "big"))
        except OSError:
            return numbers


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    else:
        ask(sys.argv[2], int(sys.argv[3]))
