"""Reads and writes the file of drained legs, which an administrator took out of use."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.files import make_directories, write_atomically
from vas_routing.links import Leg

FILE = "drained.json"


def read_drained(state: Path) -> frozenset[Leg]:
    """Returns the legs that are out of use, an empty set without a file.

    `state` is the state directory. Raises BadInput if the file is not a list of legs, OSError if it
    cannot be read.
    """
    file = state / FILE
    try:
        return frozenset(Leg(name) for name in json.loads(file.read_text()))
    except FileNotFoundError:
        return frozenset()
    except (ValueError, TypeError) as wrong:
        raise BadInput("is not a list of legs", where=str(file), hint="remove it") from wrong


def write_drained(state: Path, legs: Collection[Leg]) -> None:
    """Replaces the file of drained legs. Raises OSError."""
    make_directories(state)
    write_atomically(state / FILE, json.dumps(sorted(legs)) + "\n")
