"""Spans of time as people write them: a number and a unit."""

from __future__ import annotations

import re

from vas_core.errors import BadInput

_SECONDS = {"s": 1, "m": 60, "h": 3600}
_DURATION = re.compile(r"(\d+)\s*([smh])")


def parse_duration(text: str) -> int:
    """Returns the seconds of `90s`, `20m` or `2h`. Raises BadInput for anything else, and for 0."""
    match = _DURATION.fullmatch(text.strip())
    seconds = int(match[1]) * _SECONDS[match[2]] if match else 0
    if not seconds:
        raise BadInput(f"{text!r} is not a time", hint="write it like 90s, 20m or 2h")
    return seconds


def format_duration(seconds: float) -> str:
    """Returns seconds as text: `45 s`, or from two minutes on `12 min`."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
