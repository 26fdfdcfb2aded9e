"""Reads a machine into a snapshot: this one, or one that was captured."""

from vas_affinity.machine.reading.host import SnapshotRequest, read_snapshot
from vas_affinity.machine.reading.source import read_source

__all__ = ["SnapshotRequest", "read_snapshot", "read_source"]
