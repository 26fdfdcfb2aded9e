"""Keeps a daemon's inputs in force: good files are taken and kept, bad ones are held off.

A daemon that ends because of a bad file is worse than one that goes on with yesterday's: it goes
on, reports it in its log and its metrics, and tries again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic

from prometheus_client import CollectorRegistry, Counter, Gauge

from vas_core.errors import VasError
from vas_core.files import stamp_of
from vas_core.lastgood import LastGood, Told

_AGAIN_SECONDS = 30.0


class InForceMetrics:
    """The gauges `NAME_current` (1: what is in force is on disk) and `NAME_age_seconds`.

    `what` names the files' content in texts, like "map".
    """

    def __init__(self, registry: CollectorRegistry, name: str, what: str) -> None:
        self.what = what
        self._read_at: float | None = None
        self._current = Gauge(
            f"{name}_current", f"1 if the {what} in force is the one on disk", registry=registry
        )
        age = Gauge(
            f"{name}_age_seconds",
            f"Seconds since the {what} in force was last read from disk; NaN before the first time",
            registry=registry,
        )
        age.set_function(self._age)

    def took(self, read_at: float | None = None) -> None:
        """Records that inputs are in force: read just now (None), or kept since `read_at` (epoch
        seconds)."""
        self._current.set(read_at is None)
        self._read_at = time.time() if read_at is None else read_at

    def refused(self) -> None:
        """Records that the inputs on disk are not in force."""
        self._current.set(0)

    def _age(self) -> float:
        return float("nan") if self._read_at is None else max(0.0, time.time() - self._read_at)


class InForce(Generic[Told]):
    """The inputs of a daemon: `load` reads them from `files`, `kept` has them for the next start.

    `reloads` counts by the label `result`: done, refused, kept.
    """

    def __init__(
        self,
        load: Callable[[], Told],
        files: Sequence[Path],
        kept: LastGood[Told],
        metrics: InForceMetrics,
        reloads: Counter,
        log: logging.Logger,
    ) -> None:
        self.load, self._files, self._kept = load, files, kept
        self._metrics, self._reloads, self._log = metrics, reloads, log
        # A count that begins with its first event has no increase that an alert could see.
        for result in ("done", "refused", "kept"):
            reloads.labels(result)
        self.is_current = False
        """Whether what is in force is what is on disk."""
        self._stamps: list[object] = []
        self._refusal: str | None = None
        self._again_at = float("inf")

    def start(self, use: Callable[[Told], None]) -> Told:
        """Reads the files and passes their content to `use`; if either fails, the kept inputs.

        Returns the inputs that were used. Raises the first failure if no kept inputs can be used.
        """
        self.note_reading()
        try:
            told = self.load()
            use(told)
        except Exception as wrong:
            return self._use_kept(use, wrong)
        self._metrics.took()
        self.is_current = True
        return told

    def _use_kept(self, use: Callable[[Told], None], wrong: Exception) -> Told:
        try:
            kept = self._kept.read()
            if kept is None:
                raise wrong
            use(kept[0])
        except VasError as unusable:
            if unusable is not wrong:
                self._log.error("the last good one is not taken", extra={"what": str(unusable)})
            raise wrong from None
        self.refused(wrong)
        self._metrics.took(kept[1])
        self._reloads.labels("kept").inc()
        return kept[0]

    def is_due(self, now: float) -> bool:
        """Returns whether to read the files again: they changed, or a refused one is due again.

        `now` is a monotonic time in seconds.
        """
        return now >= self._again_at or self._stamps != self._stamps_now()

    def note_reading(self) -> None:
        """Notes the files' stamps. Call it before each reading: `is_due` compares with them."""
        self._stamps, self._again_at = self._stamps_now(), float("inf")

    def took(self) -> None:
        """Records that the inputs that were read are in force; call `keep` afterwards."""
        self._refusal, self.is_current = None, True
        self._metrics.took()
        self._reloads.labels("done").inc()

    def keep(self, told: Told) -> None:
        """Writes the inputs in force to disk, which may take a while; logs a failure."""
        try:
            self._kept.write(told)
        except OSError as wrong:
            extra = {"what": str(wrong)}
            self._log.error(f"the {self._metrics.what} cannot be kept for a restart", extra=extra)

    def refused(self, wrong: Exception) -> None:
        """Records that the inputs just read are refused, and the former ones stay in force.

        Logs the reason unless it is the one of the last refusal.
        """
        self.is_current = False
        self._metrics.refused()
        self._reloads.labels("refused").inc()
        self._again_at = time.monotonic() + _AGAIN_SECONDS
        what = str(wrong) if isinstance(wrong, VasError) else f"{type(wrong).__name__}: {wrong}"
        if what != self._refusal:
            self._refusal = what
            message = f"the {self._metrics.what} is not taken; the old one holds"
            trace = None if isinstance(wrong, VasError) else wrong
            self._log.error(message, extra={"what": what}, exc_info=trace)

    def _stamps_now(self) -> list[object]:
        return [stamp_of(file) for file in self._files]
