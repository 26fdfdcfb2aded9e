"""Reading a machine into a snapshot: this one, or one that was captured."""

from vas_affinity.reading.host import Asked, read_snapshot
from vas_affinity.reading.source import read_source

__all__ = ["Asked", "read_snapshot", "read_source"]
