"""Reads which Lustre clients a machine has mounted, and how far their locks hold."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_cluster.model import Flock


@dataclass(frozen=True)
class LustreMount:
    """A mounted Lustre client: what is mounted, where, and the mode of its locks."""

    source: str
    point: Path
    mode: Flock


def lustre_mounts(mounts: str) -> Iterator[LustreMount]:
    """Yields the Lustre clients in the text of /proc/mounts, not the mounts of servers' disks."""
    for line in mounts.splitlines():
        source, point, kind, options, *_ = [*line.split(), "", "", "", ""]
        words = options.split(",")
        if kind == "lustre" and not any(word.startswith("svname=") for word in words):
            # The kernel writes blanks of names as octal numbers.
            decoded = os.fsencode(point).decode("unicode_escape").encode("latin-1")
            yield LustreMount(source, Path(os.fsdecode(decoded)), _mode(words))


def _mode(words: list[str]) -> Flock:
    # A client whose locks work lists `flock` or `localflock`, also by default (2.12.3 and 2.13 on).
    # Those versions list `noflock` too; an older client without locks lists none of the three.
    return next((mode for mode in Flock if mode.value in words), Flock.NOFLOCK)
