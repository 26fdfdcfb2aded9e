"""Reads the lists of jobs that this machine's targets of Lustre keep. Needs no rights of root."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator

from vas_core.errors import BadInput
from vas_core.reading import open_given
from vas_core.root import Root
from vas_yarn.jobstats.counts import OmissionReason, TargetIo, busiest, parse

MOST_BYTES = 8 << 20
"""The most of a target's list that is read: some 4,000 jobs."""
# Readable by all users (lprocfs_add_simple), in 2.12 to 2.17; what `lctl get_param` reads too.
_DIRECTORIES = ("proc/fs/lustre/obdfilter", "proc/fs/lustre/mdt")
_TARGET = re.compile(r"[A-Za-z0-9_-]{1,8}-(?:OST|MDT)[0-9a-f]{4}")


def read_targets(root: Root, most_bytes: int = MOST_BYTES) -> list[TargetIo]:
    """Returns the busiest applications of each OST and MDT that this machine serves.

    A target whose list cannot be read has no rows and says so; a machine that serves none gives
    an empty list. Raises OSError where the directories of the targets cannot be listed.
    """
    return busiest(_read(root, most_bytes))


def _read(root: Root, most_bytes: int) -> Iterator[TargetIo]:
    for directory in _DIRECTORIES:
        for target in filter(_TARGET.fullmatch, root.names(directory)):
            try:
                path = root.path(f"{directory}/{target}/job_stats")
                with os.fdopen(open_given(path), "rb") as stream:
                    text = stream.read(most_bytes + 1)
            except (OSError, BadInput):
                yield TargetIo(target, left_out=Counter({OmissionReason.UNREADABLE: 1}))
            else:
                yield parse(target, text[:most_bytes], is_cut=len(text) > most_bytes)
