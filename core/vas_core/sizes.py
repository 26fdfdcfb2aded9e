"""Parses and prints sizes in bytes the way Lustre and Hadoop write them: in binary units."""

from __future__ import annotations

import re

from vas_core.errors import BadInput

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
# More digits are no size, and Python refuses to read thousands of them.
_SIZE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{1,20})?)\s*([KMGTP]?)(?:i?B)?", re.IGNORECASE)


def parse_size(text: str) -> int:
    """Returns the bytes of `64M`, `64MiB`, `64MB`, `1.5g` or `65536`; units are powers of 1024.

    Raises BadInput for anything else, a negative or a fractional number of bytes included.
    """
    match = _SIZE.fullmatch(text.strip())
    if match:
        size = (
            float(match[1]) * _UNITS[match[2].upper()]
            if "." in match[1]
            else (int(match[1]) * _UNITS[match[2].upper()])
        )
        if size == int(size):
            return int(size)
    raise BadInput(f"{text!r} is not a size", hint="write it like 64M, 1GiB or 65536")


def format_size(size_bytes: int) -> str:
    """Returns a size in its largest binary unit, with at most one decimal: `64 MiB`, `1.5 GiB`."""
    value = float(size_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if value == int(value) else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} PiB"
