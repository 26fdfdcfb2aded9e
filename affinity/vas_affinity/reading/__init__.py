"""Reading a machine into a snapshot: this one, or one that was captured."""

from vas_affinity.reading.host import read_snapshot
from vas_affinity.reading.source import read_source

__all__ = ["read_snapshot", "read_source"]
