"""What a daemon leaves for the one after it: a trial goes on, and a hold-off holds.

Times are of the clock since boot, as a reboot empties the directory.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from pydantic import TypeAdapter, ValidationError

from vas_affinity.daemon.decide import State
from vas_core.errors import VasError
from vas_core.files import make_directories, write_atomically

_FILE = "daemon.json"
_STATE = TypeAdapter(State)


def write_memory(state: Path, remembered: State) -> None:
    """Replaces the file in a directory."""
    make_directories(state)
    write_atomically(state / _FILE, _STATE.dump_json(remembered, indent=2), mode=0o600)


def check_state(state: Path) -> None:
    """Raises VasError where a journal could not be kept in that directory."""
    try:
        make_directories(state)
        with TemporaryFile(dir=state):
            pass
    except PermissionError as refused:
        what = f"{refused.strerror}: nothing could be given back"
        raise VasError(what, where=str(state), hint="run as root, or give --state") from None


def read_memory(state: Path) -> State | None:
    """What the last daemon left since the machine was started; None if there is none to read."""
    try:
        return _STATE.validate_json((state / _FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
