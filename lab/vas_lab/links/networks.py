"""Makes sockets in the networks of a lab's nodes."""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

Made = TypeVar("Made")
_CLONE_NEWNET = 0x40000000
_NETWORKS = Path("/run/netns")
_libc = ctypes.CDLL(None, use_errno=True)


def in_network(node: str, make: Callable[[], Made]) -> Made:
    """Returns what `make` returns in the network of a node: a socket stays in it.

    A thread of its own enters the network, and ends. Raises OSError if it may not, and what `make`
    raises.
    """
    made: list[Made] = []
    failed: list[BaseException] = []

    def enter() -> None:
        try:
            _enter(node)
            made.append(make())
        except BaseException as wrong:
            failed.append(wrong)

    thread = threading.Thread(target=enter, name=f"in {node}")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return made[0]


def _enter(node: str) -> None:
    descriptor = os.open(_NETWORKS / node, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if _libc.setns(descriptor, _CLONE_NEWNET):
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), f"network of {node}")
    finally:
        os.close(descriptor)
