"""Starting `vas-routed`: its log, its metrics, the privileges that it keeps."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from pythonjsonlogger.json import JsonFormatter

from vas_core.errors import BadInput, VasError
from vas_routing.daemon.announce import Announcer, open_packet_socket
from vas_routing.daemon.loop import Daemon
from vas_routing.daemon.metrics import Metrics
from vas_routing.daemon.node import Tools
from vas_routing.daemon.privileges import drop_net_raw
from vas_routing.node import Node
from vas_routing.observe import devices
from vas_routing.policy import Choices

OFF = "off"


def serve(load: Callable[[], tuple[Node, Choices]], files: Sequence[Path], metrics_at: str) -> None:
    """Runs the daemon until SIGTERM. Raises VasError where it cannot start."""
    _log_json()
    metrics = Metrics()
    if metrics_at != OFF:
        _serve_metrics(metrics, metrics_at)
    Daemon(load, files, Tools(_announcer(), metrics)).run()


def _log_json() -> None:
    handler = logging.StreamHandler()
    fields = "%(asctime)s %(levelname)s %(message)s"
    handler.setFormatter(JsonFormatter(fields, rename_fields={"levelname": "level"}))
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def _serve_metrics(metrics: Metrics, at: str) -> None:
    address, _, port = at.rpartition(":")
    if not address or not port.isdecimal():
        raise BadInput("is no ADDRESS:PORT", where=f"--metrics {at}", hint="like 127.0.0.1:9213")
    try:
        metrics.serve(address, int(port))
    except OSError as wrong:
        raise VasError(
            f"cannot be listened at: {wrong.strerror}", where=f"--metrics {at}"
        ) from wrong


def _announcer() -> Announcer:
    try:
        packets = open_packet_socket()
    except PermissionError as refused:
        hint = "start it with CAP_NET_RAW, which it gives up at once"
        raise VasError("may not announce addresses", hint=hint) from refused
    drop_net_raw()

    def send(device: str, frame: bytes) -> None:
        packets.sendto(frame, (device, 0))

    return Announcer(send, lambda device: bytes.fromhex(devices()[device].mac.replace(":", "")))
