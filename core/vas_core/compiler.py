"""The C compiler of this machine: some of our programs are built where they run."""

from __future__ import annotations

import shutil

from vas_core.errors import NotHere


def c_compiler(*, where: str, hint: str = "install gcc") -> str:
    """Returns the name of the C compiler on PATH.

    Raises NotHere if there is none: `where` names in its message what needs one, `hint` the fix.
    """
    found = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if found is None:
        raise NotHere("no C compiler on PATH", where=where, hint=hint)
    return found
