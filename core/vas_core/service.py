"""Shared by the daemons: the structured log and the Prometheus endpoint."""

from __future__ import annotations

import logging
import socket
from collections import deque
from contextlib import suppress
from ipaddress import ip_address
from socketserver import TCPServer, ThreadingMixIn
from threading import Lock, Thread
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, make_wsgi_app
from pythonjsonlogger.json import JsonFormatter

from vas_core.errors import BadInput, VasError

OFF = "off"
MOST_CONNECTIONS = 16
"""The most connections that are served at a time. Each holds a thread and a descriptor."""
_SILENCE_SECONDS = 10.0
# <linux/in.h>; Python does not name it. IPv6 sockets take it too.
_IP_FREEBIND = 15


def log_json() -> None:
    """Logs to stderr, one line of JSON per event."""
    handler = logging.StreamHandler()
    fields = "%(asctime)s %(levelname)s %(message)s"
    handler.setFormatter(JsonFormatter(fields, rename_fields={"levelname": "level"}))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def serve_metrics(registry: CollectorRegistry, at: str) -> None:
    """Answers Prometheus at `ADDRESS:PORT` in a thread; does nothing at `off`.

    An address that the machine does not have yet is accepted: a path that is down must not keep a
    daemon from starting. Raises BadInput if `at` is neither, VasError if the port is taken.
    """
    if at == OFF:
        return
    try:
        server = _Server(_parsed(at), _Quiet)
    except OSError as wrong:
        what = f"cannot be bound: {wrong.strerror}"
        raise VasError(what, where=f"--metrics {at}") from wrong
    server.set_app(make_wsgi_app(registry))
    Thread(target=server.serve_forever, daemon=True).start()


def _parsed(at: str) -> tuple[str, int]:
    address, _, port = at.rpartition(":")
    address = address.removeprefix("[").removesuffix("]")
    try:
        return str(ip_address(address)), int(port)
    except ValueError:
        hint = "like 127.0.0.1:9213"
        raise BadInput("is not an ADDRESS:PORT", where=f"--metrics {at}", hint=hint) from None


class _Server(ThreadingMixIn, WSGIServer):
    """Serves each connection in a thread; one too many ends the oldest.

    Whoever reaches the port may open connections and say nothing. They must cost the daemon no
    descriptor that it needs for its work, and Prometheus no answer: a scrape takes milliseconds, so
    it is never the oldest for long.
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, at: tuple[str, int], handler: type[WSGIRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in at[0] else socket.AF_INET
        self._open: deque[socket.socket] = deque()
        self._lock = Lock()
        super().__init__(at, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Starts a thread for a connection, and ends the oldest connection if there are too
        many."""
        with self._lock:
            if len(self._open) == MOST_CONNECTIONS:
                # Its thread then reads the end of the connection, closes it and ends.
                with suppress(OSError):
                    self._open.popleft().shutdown(socket.SHUT_RDWR)
            self._open.append(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Closes a connection that was served or ended."""
        with self._lock, suppress(ValueError):
            self._open.remove(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Logs nothing: a connection that breaks is its client's affair, and could fill the log."""

    def server_bind(self) -> None:
        """Binds without looking up the address's DNS name, as the standard library would: it may
        hang."""
        self.socket.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
        TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]  # type: ignore[assignment]
        self.setup_environ()


class _Quiet(WSGIRequestHandler):
    timeout = _SILENCE_SECONDS

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Nothing: the log is the daemon's, and Prometheus asks often."""
