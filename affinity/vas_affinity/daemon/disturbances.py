"""Listens to the kernel for links that came up and CPUs that came or went.

A NIC's interrupts lose their CPUs when it is set up again (the drivers' ndo_open), and a CPU that
goes offline loses its pins: both are repaired at once, not at the next regular check.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Iterator

_NETLINK_KOBJECT_UEVENT = 15
_RTMGRP_LINK = 1
_KERNEL = 1  # the uevents that the kernel sends, not udev
_LONGEST_BYTES = 65536
_OF_A_CPU = b"@/devices/system/cpu/"


class Disturbances:
    """Two netlink sockets for a selector: link changes, and CPU events.

    Raises OSError if they cannot be opened.
    """

    def __init__(self) -> None:
        self.links = _open(socket.NETLINK_ROUTE, _RTMGRP_LINK)
        self.devices = _open(_NETLINK_KOBJECT_UEVENT, _KERNEL)

    def heard(self) -> bool:
        """Reads all waiting messages; tells whether one is of a link or a CPU."""
        links, devices = list(_messages(self.links)), list(_messages(self.devices))
        return bool(links) or any(map(_is_cpu, devices))

    def close(self) -> None:
        """Closes the two sockets."""
        self.links.close()
        self.devices.close()


def _open(protocol: int, groups: int) -> socket.socket:
    kind = socket.SOCK_RAW | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
    opened = socket.socket(socket.AF_NETLINK, kind, protocol)
    opened.bind((0, groups))
    return opened


def _messages(opened: socket.socket) -> Iterator[bytes]:
    """Yields all waiting messages. An overflow counts as a CPU's event: one may be lost."""
    while True:
        try:
            yield opened.recv(_LONGEST_BYTES)
        except BlockingIOError:
            return
        except OSError as lost:
            if lost.errno != errno.ENOBUFS:
                raise
            yield _OF_A_CPU


def _is_cpu(message: bytes) -> bool:
    """Tells whether a uevent is of a CPU, like `online@/devices/system/cpu/cpu3`."""
    return _OF_A_CPU in message.partition(b"\0")[0]
