"""Parses the byte and packet counters of interfaces in /proc/PID/net/dev."""

from __future__ import annotations

_COLUMNS = {"rx_bytes": 0, "rx_packets": 1, "tx_bytes": 8, "tx_packets": 9}


def parse_counters(text: str) -> dict[str, dict[str, int]]:
    """Returns rx_bytes, rx_packets, tx_bytes and tx_packets of each device (proc(5))."""
    lines = (line.partition(":") for line in text.splitlines())
    return {name.strip(): _counters(rest.split()) for name, colon, rest in lines if colon}


def _counters(fields: list[str]) -> dict[str, int]:
    return {name: int(fields[column]) for name, column in _COLUMNS.items()}
