"""A snapshot as text."""

from __future__ import annotations

from vas_affinity.snapshot import Snapshot
from vas_core.cli import print_table


def print_snapshot(snapshot: Snapshot) -> None:
    """Prints all of it."""
    print_table(("NOT READ", "WHY"), [(unread.what, unread.why) for unread in snapshot.unread])
