"""Reads the metric of the watched service: a command's, a file's, or a metrics page's."""

from __future__ import annotations

import http.client
import re
import urllib.request
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from vas_affinity.daemon.settings import Valve
from vas_core.errors import VasError
from vas_core.process import run

_TIMEOUT_SECONDS = 5.0
_LONGEST_BYTES = 16 << 20
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?")


@dataclass
class ValveMeter:
    """A valve's metric, as a rate where it is a counter."""

    valve: Valve
    _last: tuple[float, float] | None = field(default=None, init=False)

    def read(self, now: float) -> float | None:
        """Returns the metric's value; None for a counter's first reading, and after its reset.

        Raises VasError if it cannot be read.
        """
        try:
            value = _value(self.valve)
            if not isfinite(value):
                raise ValueError(f"it is {value}")
        except (OSError, ValueError, http.client.HTTPException) as wrong:
            self._last = None
            raise VasError(f"cannot be read: {wrong}", where="the valve's metric") from wrong
        return self._rate(value, now) if self.valve.rate else value

    def _rate(self, value: float, now: float) -> float | None:
        last, self._last = self._last, (now, value)
        if last is None or value < last[1] or now <= last[0]:
            return None
        return (value - last[1]) / (now - last[0])


def _value(valve: Valve) -> float:
    if valve.command:
        return first_number(run(valve.command, timeout_seconds=_TIMEOUT_SECONDS).stdout)
    if valve.file:
        return first_number(Path(valve.file).read_text())
    assert valve.prometheus and valve.metric
    return sample_of(_page(valve.prometheus), valve.metric, valve.labels)


def first_number(text: str) -> float:
    """Returns the first number in a text. Raises ValueError if there is none."""
    found = _NUMBER.search(text)
    if found is None:
        raise ValueError(f"no number in {text[:80]!r}")
    return float(found[0])


def sample_of(page: str, metric: str, labels: dict[str, str]) -> float:
    """Returns the sum of a metric's samples that have these labels. Raises ValueError for none."""
    values = [
        sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
        if sample.name == metric and labels.items() <= sample.labels.items()
    ]
    if not values:
        raise ValueError(f"no sample of {metric} {labels or ''}".rstrip())
    return sum(values)


def _page(url: str) -> str:
    # The settings hold it to http and https.
    with urllib.request.urlopen(url, timeout=_TIMEOUT_SECONDS) as answer:  # noqa: S310
        content: bytes = answer.read(_LONGEST_BYTES)
        return content.decode(errors="replace")
