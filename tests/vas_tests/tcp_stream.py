"""Keeps one TCP connection busy: `tcp_stream.py serve ADDRESS`, `tcp_stream.py ask ADDRESS`.

`ask` sends numbers and takes them back, some hundreds a second, until its stdin ends; then it
prints how many came back, as JSON. It needs the standard library alone.
"""

from __future__ import annotations

import json
import select
import socket
import sys
import time

PORT = 9998
_PAUSE_SECONDS = 0.002


def serve(address: str) -> None:
    """Accepts one connection, and sends back whatever arrives."""
    with socket.create_server((address, PORT), family=_family(address)) as here:
        print("ready", flush=True)
        connection, _ = here.accept()
        while data := connection.recv(1 << 16):
            connection.sendall(data)


def ask(address: str) -> None:
    """Sends numbers, each after the one before came back, until stdin has a line or ends.

    Prints a line of JSON: how many came back (`echoed`), and an `error` if one did not.
    """
    with socket.create_connection((address, PORT), timeout=20) as there:
        there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        print("ready", flush=True)
        echoed = 0
        try:
            while not select.select([sys.stdin], [], [], 0)[0]:
                message = echoed.to_bytes(8, "big")
                there.sendall(message)
                if there.recv(8, socket.MSG_WAITALL) != message:
                    raise OSError("something else came back")
                echoed += 1
                time.sleep(_PAUSE_SECONDS)
            print(json.dumps({"echoed": echoed}))
        except OSError as wrong:
            print(json.dumps({"error": str(wrong), "after": echoed}))


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


if __name__ == "__main__":
    {"serve": serve, "ask": ask}[sys.argv[1]](sys.argv[2])
