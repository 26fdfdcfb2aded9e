"""Keeps the keys in force: reads them together with the map, and ignores an unusable file."""

from __future__ import annotations

import logging
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_routing.daemon.keys import Keys, read_keys
from vas_routing.daemon.metrics import RouteMetrics

log = logging.getLogger("vas-routed")


class Keyring:
    """The keys in force. While the file cannot be used the last keys stay; at the start there
    are none."""

    def __init__(self, file: Path, metrics: RouteMetrics) -> None:
        self.file, self._metrics = file, metrics
        self.keys = Keys()
        self._said: str | None = None
        self._held_off: str | None = None

    def read(self) -> Keys:
        """Reads the key file again; returns the keys in force from now on.

        If the file cannot be used, these are the keys of before; the reason is logged.
        """
        try:
            found = read_keys(self.file)
            wrong = f"{self.file}: is gone" if self.keys and not found else None
        except BadInput as refused:
            found, wrong = Keys(), str(refused)
        self.keys = found or self.keys
        self._metrics.signed.set(bool(self.keys))
        self._metrics.key_refused.set(wrong is not None)
        self._say(wrong)
        return self.keys

    def hold_off(self, wrong: Exception, before: Keys) -> None:
        """Reports that the keys that were read are not in force, as no node could use them.

        `before` are the keys that still are. A reason is logged once, until it changes.
        """
        what = str(wrong) if isinstance(wrong, VasError) else f"{type(wrong).__name__}: {wrong}"
        self._metrics.signed.set(bool(before))
        self._metrics.key_refused.set(True)
        if what != self._held_off:
            self._held_off = what
            not_in_force = f"{self.file}: not in force: {what}"
            log.error("the key of before holds", extra={"what": not_in_force})

    def _say(self, wrong: str | None) -> None:
        if wrong is None and not self.keys:
            wrong = f"{self.file}: is not there"
        if wrong is not None and wrong != self._said:
            message = "the key of before holds" if self.keys else "probes are not signed"
            believed = "" if self.keys else "; everybody who may use ports below 1024 is believed"
            log.error(message, extra={"what": wrong + believed})
        self._said = wrong
