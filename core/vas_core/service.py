"""What every daemon of VAS does alike: its log, and where Prometheus asks."""

from __future__ import annotations

import logging

from prometheus_client import CollectorRegistry, start_http_server
from pythonjsonlogger.json import JsonFormatter

from vas_core.errors import BadInput, VasError

OFF = "off"


def log_json() -> None:
    """Logs to stderr, a line of JSON an event."""
    handler = logging.StreamHandler()
    fields = "%(asctime)s %(levelname)s %(message)s"
    handler.setFormatter(JsonFormatter(fields, rename_fields={"levelname": "level"}))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def serve_metrics(registry: CollectorRegistry, at: str) -> None:
    """Answers Prometheus at `ADDRESS:PORT` in a thread; at `off` not at all.

    Raises BadInput if `at` is neither, VasError if the port is taken.
    """
    if at == OFF:
        return
    address, _, port = at.rpartition(":")
    if not address or not port.isdecimal():
        raise BadInput("is no ADDRESS:PORT", where=f"--metrics {at}", hint="like 127.0.0.1:9213")
    try:
        start_http_server(int(port), address, registry)
    except OSError as wrong:
        what = f"cannot be listened at: {wrong.strerror}"
        raise VasError(what, where=f"--metrics {at}") from wrong
