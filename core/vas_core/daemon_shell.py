"""The main loop that the daemons share: events, signals, systemd's notifications, reloads."""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from typing import Generic

from vas_core.inforce import InForce
from vas_core.lastgood import Told
from vas_core.notify import notify
from vas_core.signals import Signals


class DaemonShell(Generic[Told]):
    """Runs a daemon in one thread until SIGTERM or SIGINT; `files` are its input files.

    A daemon calls `run` with its own work. A reload begins with `begin_reload` and ends with
    `end_reload`; in between, the daemon may read the files in another thread.
    """

    def __init__(
        self, files: InForce[Told], selector: selectors.BaseSelector | None = None
    ) -> None:
        self._files = files
        self._selector = selector or selectors.DefaultSelector()

    def watch(self, source: socket.socket | int, on_ready: Callable[[], object]) -> None:
        """Calls `on_ready` from the loop whenever `source` can be read."""
        self._selector.register(source, selectors.EVENT_READ, on_ready)

    def run(
        self,
        step: Callable[[float], None],
        reload: Callable[[], None],
        wait_seconds: Callable[[], float],
    ) -> None:
        """Waits for events and calls `step` with the time (monotonic, seconds) after each wait.

        Calls `reload` at SIGHUP; `step` does that itself when `is_reload_due`. A wait ends after
        `wait_seconds()` at the latest. `step` also tells systemd's watchdog that the daemon lives.
        """
        signals = Signals(self._selector)
        notify("READY=1")
        while not signals.stop:
            for key, _ in self._selector.select(max(0.0, wait_seconds())):
                key.data()
            if signals.take_reload():
                reload()
            step(time.monotonic())
        notify("STOPPING=1")

    def is_reload_due(self, now: float) -> bool:
        """Returns whether the files changed, or a refused one must be tried again."""
        return self._files.is_due(now)

    def begin_reload(self) -> None:
        """Tells systemd that the daemon reads its files again, and notes their time stamps."""
        self._files.note_reading()
        notify("RELOADING=1", f"MONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def end_reload(self, use: Callable[[], Told], keep: Callable[[Told], object]) -> bool:
        """Ends a reload: calls `use`, which applies the new inputs and returns them, then `keep`.

        `keep` writes them to disk for the next start (`InForce.keep`, perhaps in another thread).
        Returns False if `use` raises any exception: that is logged and counted, the old inputs
        stay in force, and the caller restores its own state. A daemon must not end because of a
        bad file.
        """
        try:
            used = use()
        except Exception as wrong:
            self._files.refused(wrong)
            return False
        else:
            self._files.took()
            keep(used)
            return True
        finally:
            notify("READY=1")
