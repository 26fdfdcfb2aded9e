"""Reads and writes durations as people do: a number and a unit."""

from __future__ import annotations

import re

from vas_core.errors import BadInput

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"([0-9]{1,12})\s*([smhd])")


def parse_duration(text: str, *, least_seconds: int = 1, days: bool = False) -> int:
    """Returns the seconds of `90s`, `20m` or `2h`, and with `days` of `30d`.

    Raises BadInput for anything else, and for less than `least_seconds`.
    """
    match = _DURATION.fullmatch(text.strip())
    is_known = match is not None and (days or match[2] != "d")
    seconds = int(match[1]) * _SECONDS[match[2]] if match and is_known else -1
    if seconds < least_seconds:
        example = "90s, 20m, 24h or 30d" if days else "90s, 20m or 2h"
        raise BadInput(f"{text!r} is not a time", hint=f"write it like {example}")
    return seconds


def format_duration(seconds: float) -> str:
    """Returns seconds as text: `45 s`, or from two minutes on `12 min`."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
