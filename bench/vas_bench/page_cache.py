"""Empties the page cache of this machine, before a measurement."""

from __future__ import annotations

import os

from vas_core.errors import NotHere
from vas_core.root import Root

_DROP = "proc/sys/vm/drop_caches"


def may_drop(root: Root) -> bool:
    """Tells whether this process may empty it."""
    return os.access(root.path(_DROP), os.W_OK)


def drop(root: Root, *, hint: str = "run as root of the machine") -> None:
    """Writes dirty pages, then empties the cache. Raises NotHere, with the hint, if it may not.

    It is the whole machine's: whatever else runs there reads again.
    """
    os.sync()
    try:
        root.path(_DROP).write_text("1\n")
    except OSError as refused:
        what = f"the page cache cannot be emptied: {refused.strerror}"
        raise NotHere(what, where=f"/{_DROP}", hint=hint) from refused
