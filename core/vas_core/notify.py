"""Notifies systemd, if it started this process: sd_notify(3)."""

from __future__ import annotations

import os
import socket


def notify(*lines: str) -> None:
    """Sends lines like `READY=1` or `WATCHDOG=1`; does nothing if systemd did not start us.

    Raises OSError if systemd's socket cannot be reached.
    """
    path = os.environ.get("NOTIFY_SOCKET")
    if not path:
        return
    address = "\0" + path[1:] if path.startswith("@") else path
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as service_manager:
        service_manager.connect(address)
        service_manager.sendall("\n".join(lines).encode())
