"""The factor "tuned": a setting of the OS that is put back by the kernel, even after a crash.

/dev/cpu_dma_latency takes the longest time, in microseconds, that a CPU may need to wake up (the
kernel's PM QoS), as long as the file is open. With 0 an idle CPU polls and never sleeps: what
tuned's profile latency-performance asks for with `force_latency`, and what the thread manager's
paper's "tuned for power saving" lacks.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager

from vas_core.errors import NotHere
from vas_core.root import Root

_FILE = "dev/cpu_dma_latency"
NAME = "CPU wake-up latency 0 us (/dev/cpu_dma_latency): idle CPUs poll"


def why_not(root: Root) -> str | None:
    """Returns why the setting cannot be made here; None if it can."""
    try:
        with tuned(root):
            return None
    except (OSError, NotHere) as reason:
        return f"/{_FILE}: {getattr(reason, 'strerror', None) or reason}"


@contextmanager
def tuned(root: Root) -> Iterator[None]:
    """Holds the setting during the body.

    Raises OSError where it cannot be made, NotHere when it reads back as another.
    """
    descriptor = os.open(root.path(_FILE), os.O_RDWR | os.O_CLOEXEC)
    try:
        os.write(descriptor, struct.pack("=i", 0))
        found = latency_microseconds(root)
        if found != 0:
            raise NotHere(f"asked for 0, it is {found}", where=f"/{_FILE}")
        yield
    finally:
        os.close(descriptor)


def latency_microseconds(root: Root) -> int:
    """Returns the wake-up latency in force: the least that any process asked for.

    Raises OSError where the kernel does not have it.
    """
    with root.path(_FILE).open("rb") as stream:
        (value,) = struct.unpack("=i", stream.read(4))
    return int(value)
