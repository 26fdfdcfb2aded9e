"""Saves the daemon's state for its next start, so that trials and hold-offs continue.

Times are of the clock since boot, as a reboot empties the directory.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from pydantic import TypeAdapter, ValidationError

from vas_affinity.daemon.decide import DaemonState
from vas_core.errors import VasError
from vas_core.files import make_directories, write_atomically

_FILE = "daemon.json"
_STATE = TypeAdapter(DaemonState)


def write_state(state: Path, remembered: DaemonState) -> None:
    """Saves the state in a directory; replaces the file at once or not at all.

    Raises OSError if it cannot be written.
    """
    make_directories(state)
    write_atomically(state / _FILE, _STATE.dump_json(remembered, indent=2), mode=0o600)


def check_state(state: Path) -> None:
    """Raises VasError if this user may not write a journal in that directory.

    Raises OSError if it cannot be written for another reason, such as a full disk.
    """
    try:
        make_directories(state)
        with TemporaryFile(dir=state):
            pass
    except PermissionError as refused:
        what = f"{refused.strerror}: nothing could be restored"
        raise VasError(what, where=str(state), hint="run as root, or give --state") from None


def read_state(state: Path) -> DaemonState | None:
    """Returns the state that a daemon saved since the machine's boot.

    None if there is none, or another version of VAS wrote it. Raises OSError if it cannot be
    read.
    """
    try:
        return _STATE.validate_json((state / _FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
