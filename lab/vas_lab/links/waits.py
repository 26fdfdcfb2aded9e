"""Counts how long processes of a lab wait for its links, by what they read or write."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from vas_lab.links.request import Kind

_ALL = tuple(f"{done} {what}" for done in ("read", "written") for what in ("files", "map output"))
# VAS's shuffle directory of a job, and the NodeManagers' own, where they are on Lustre.
_MAP_OUTPUT = re.compile(r"/job_\d+_\d+/shuffle/|/usercache/[^/]+/appcache/")


def what_of(kind: Kind, path: str) -> str:
    """Returns what a request is for, as `LinkWait.what` has it."""
    done = "read" if kind is Kind.READ else "written"
    return f"{done} {'map output' if _MAP_OUTPUT.search(path) else 'files'}"


class LinkWaits:
    """The waits since a lab began."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests = dict.fromkeys(_ALL, 0)
        self._seconds = dict.fromkeys(_ALL, 0.0)

    @contextmanager
    def counting(self, kind: Kind, descriptor: int) -> Iterator[None]:
        """Counts the time of its body as one wait, for the file of a descriptor."""
        what = what_of(kind, str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        began = time.monotonic()
        try:
            yield
        finally:
            with self._lock:
                self._requests[what] += 1
                self._seconds[what] += time.monotonic() - began

    def totals(self) -> list[dict[str, str | int | float]]:
        """Returns each wait's fields, as JSON has them."""
        with self._lock:
            return [
                {"what": what, "requests": number, "seconds": round(self._seconds[what], 6)}
                for what, number in self._requests.items()
            ]
