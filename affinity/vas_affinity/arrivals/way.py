"""The ways in which new threads are noticed."""

from __future__ import annotations

from enum import StrEnum


class NoticeWay(StrEnum):
    """The way in which new threads are noticed."""

    CONNECTOR = "connector"
    """The kernel's process events."""
    SCAN = "scan"
    """A look at the plan's processes every 40 ms."""
    LOOK = "look"
    """A look at all processes, every minute."""
