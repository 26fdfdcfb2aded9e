"""The signals of a daemon that waits with a selector: SIGTERM and SIGINT end it, SIGHUP reloads."""

from __future__ import annotations

import os
import selectors
import signal
from collections.abc import Callable


class Signals:
    """Notes signals and wakes the selector; the data it registers there is a callable to run.

    `stop` becomes true at SIGTERM or SIGINT.
    """

    def __init__(self, selector: selectors.BaseSelector) -> None:
        self.stop = False
        self._reload = False
        reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
        woken: Callable[[], object] = lambda: os.read(reader, 4096)  # noqa: E731
        selector.register(reader, selectors.EVENT_READ, woken)
        signal.signal(signal.SIGTERM, self._on_stop)
        signal.signal(signal.SIGINT, self._on_stop)
        signal.signal(signal.SIGHUP, self._on_reload)

    def take_reload(self) -> bool:
        """Returns whether SIGHUP came since the last call of this method."""
        asked, self._reload = self._reload, False
        return asked

    def _on_stop(self, *_: object) -> None:
        self.stop = True

    def _on_reload(self, *_: object) -> None:
        self._reload = True
