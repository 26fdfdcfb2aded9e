"""`python -m vas_lab.links`: the links of all nodes of a lab, in one process of its first node.

A thread waits on each node for requests (`request.ADDRESS`), and each request has a thread, as a
reader waits while bytes cross. `links.sock` in the state directory answers `totals` and `drop`.
"""

from __future__ import annotations

import argparse
import errno
import json
import os
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from vas_cluster import Cluster, load_cluster
from vas_lab.links.client import LustreClients
from vas_lab.links.networks import in_network
from vas_lab.links.request import ADDRESS, REQUEST, LinkAnswer, decode_request
from vas_lab.links.totals import CONTROL
from vas_lab.links.waits import LinkWaits
from vas_lab.links.wires import FileWires
from vas_lab.lustre.mds.board import Board
from vas_lab.network.topology import FABRIC, plan_topology

_BACKLOG, _AT_ONCE = 1024, 64


class LinkServer:
    """Serves the processes of all nodes. Raises OSError if a node's network cannot be entered."""

    def __init__(self, cluster: Cluster, state_dir: Path, cache_bytes: int) -> None:
        self._board = Board(state_dir)
        self.wires = FileWires(cluster, state_dir)
        self.clients = LustreClients(
            state_dir / "mds.sock",
            self.wires.server_of,
            self.wires.between,
            cache_bytes,
            self._board.forget_ranges,
        )
        self._waits = LinkWaits()
        self._pool = ThreadPoolExecutor(_AT_ONCE, "request")
        nodes = [node for node in plan_topology(cluster).nodes if node != FABRIC]
        listeners = {node: in_network(node, _listen) for node in nodes}
        for node, listener in listeners.items():
            self._accept(listener, lambda stream, node=node: self._serve(node, stream))  # type: ignore[misc]
        path = state_dir / CONTROL
        path.unlink(missing_ok=True)
        control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        control.bind(str(path))
        path.chmod(0o600)
        control.listen()
        self._accept(control, self._control)
        self._board.link(on=True)

    def _accept(self, listener: socket.socket, serve: Callable[[socket.socket], None]) -> None:
        def accept() -> None:
            while True:
                try:
                    stream, _ = listener.accept()
                except OSError:  # too many files are open: some close soon
                    time.sleep(0.05)
                else:
                    self._pool.submit(serve, stream)

        threading.Thread(target=accept, daemon=True).start()

    def _serve(self, node: str, stream: socket.socket) -> None:
        with stream:
            data, descriptors, _, _ = socket.recv_fds(stream, REQUEST.size + 1, 1)
            try:
                request = decode_request(data)
                with self._waits.counting(request.kind, descriptors[0]):
                    answer = self.clients.serve(node, request, descriptors[0])
            except OSError as wrong:
                answer = LinkAnswer(wrong.errno or errno.EIO)
            except Exception:
                # One client's nonsense must not end the service of the others.
                traceback.print_exc()
                answer = LinkAnswer(errno.EIO)
            finally:
                for descriptor in descriptors:
                    os.close(descriptor)
            with suppress(OSError):
                stream.send(answer.encode())

    def _control(self, stream: socket.socket) -> None:
        with stream, stream.makefile("rb") as lines:
            if lines.readline() == b"drop\n":
                self.clients.drop()
                self._board.forget_ranges()
            totals = {"wires": self.wires.totals(), "waits": self._waits.totals()}
            with suppress(OSError):
                stream.sendall(json.dumps(totals).encode() + b"\n")


def _listen() -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(ADDRESS)
    listener.listen(_BACKLOG)
    return listener


def main(arguments: list[str]) -> None:
    """Runs the links until SIGTERM or SIGINT."""
    parser = argparse.ArgumentParser(prog="python -m vas_lab.links", description=__doc__)
    parser.add_argument("--cluster", type=Path, required=True, help="the map of the site")
    parser.add_argument("--state", type=Path, required=True, help="directory of the stand-in")
    parser.add_argument("--cache-bytes", type=int, required=True, help="page cache of each node")
    options = parser.parse_args(arguments)
    LinkServer(load_cluster(options.cluster), options.state, options.cache_bytes)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})
    os._exit(0)


if __name__ == "__main__":
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    main(sys.argv[1:])
