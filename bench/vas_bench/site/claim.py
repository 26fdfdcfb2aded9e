"""The directory on a site that a session makes its own, and removes at its end.

A directory is removed only if an ended session of the same user is known to have left it.
"""

from __future__ import annotations

import getpass
import os
import socket
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_core.errors import BadInput
from vas_core.files import make_directories
from vas_core.predictable_names import BENCH_MARK
from vas_core.safe_open import open_own, read_own

_NAME = BENCH_MARK.of()
_MOST_BYTES = 1 << 16
_HINT = "name another place by --directory, or remove it yourself"


class Mark(BaseModel):
    """The owner of a directory: a process of a user on a machine."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    user: str
    machine: str
    process: int


def is_left_over(directory: Path) -> bool:
    """Tells whether the directory is one that an ended session of this user left.

    Raises BadInput if it is there and somebody else's, or nobody knows whose.
    """
    if not directory.exists():
        return False
    mark, own = _read(directory), _own()
    if mark is None:
        raise BadInput("is there, and no session made it", where=str(directory), hint=_HINT)
    if (mark.user, mark.machine) != (own.user, own.machine):
        made = f"a session of {mark.user} on {mark.machine} made it"
        raise BadInput(made, where=str(directory), hint=_HINT)
    if mark.process != own.process and Path(f"/proc/{mark.process}").exists():
        busy = f"process {mark.process} is at work in it"
        raise BadInput(busy, where=str(directory), hint="wait for it, or use another --directory")
    return True


def make(directory: Path) -> None:
    """Makes the directory, owned by this process. Raises OSError if it exists."""
    make_directories(directory.parent)
    directory.mkdir(0o700)
    directory.chmod(0o755)  # whatever the umask: containers may run as yarn
    descriptor = open_own(directory / _NAME, os.O_WRONLY | os.O_CREAT, mode=0o644)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(_own().model_dump_json() + "\n")


def _own() -> Mark:
    return Mark(user=getpass.getuser(), machine=socket.gethostname(), process=os.getpid())


def _read(directory: Path) -> Mark | None:
    try:
        return Mark.model_validate_json(read_own(directory / _NAME, _MOST_BYTES))
    except (FileNotFoundError, ValidationError):
        return None
