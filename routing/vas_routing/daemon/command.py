"""Starts `vas-routed`: its log, its metrics, the privileges that it keeps."""

from __future__ import annotations

import errno
import logging
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import VasError
from vas_core.inforce import InForce
from vas_core.lastgood import LastGood
from vas_core.service import log_json, serve_metrics
from vas_routing.daemon.announce import Announcer, open_packet_socket
from vas_routing.daemon.inputs import Inputs
from vas_routing.daemon.keyring import Keyring
from vas_routing.daemon.loop import RouteDaemon
from vas_routing.daemon.metrics import RouteMetrics
from vas_routing.daemon.privileges import ask_for_priority, drop_net_raw
from vas_routing.observe import devices

log = logging.getLogger("vas-routed")


@dataclass(frozen=True)
class Places:
    """The directories and the key file of the daemon. A reboot empties `state`, not `kept`."""

    state: Path
    kept: Path
    key: Path


def serve(
    load: Callable[[], Inputs], files: Sequence[Path], places: Places, metrics_at: str
) -> None:
    """Runs the daemon until SIGTERM.

    `load` reads its inputs from `files`, `metrics_at` is the address for Prometheus or `off`.
    Raises VasError or OSError if it cannot start.
    """
    log_json()
    metrics = RouteMetrics()
    serve_metrics(metrics.registry, metrics_at)
    keyring = Keyring(places.key, metrics)
    kept = LastGood(places.kept, Inputs)
    told = InForce(load, (*files, places.key), kept, metrics.map, metrics.reloads, log)
    daemon = RouteDaemon(told, keyring, places.state, _announcer(), metrics)
    if not ask_for_priority():
        log.info("no real-time priority: switches are late on a busy machine")
    daemon.run()


def _announcer() -> Announcer:
    try:
        packets = open_packet_socket()
    except PermissionError as refused:
        hint = "start it with CAP_NET_RAW, which it drops at once"
        raise VasError("may not announce addresses", hint=hint) from refused
    drop_net_raw()

    def send(device: str, frame: bytes) -> None:
        packets.sendto(frame, (device, 0))

    return Announcer(send, mac_of)


def mac_of(device: str) -> bytes:
    """Returns the MAC of an interface. Raises OSError if there is none of that name."""
    found = devices().get(device)
    if found is None:
        raise OSError(errno.ENODEV, os.strerror(errno.ENODEV), device)
    return bytes.fromhex(found.mac.replace(":", ""))
