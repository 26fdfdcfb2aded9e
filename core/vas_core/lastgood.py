"""Keeps a daemon's last good inputs on disk, for a start without a usable file."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from vas_core.errors import VasError
from vas_core.files import make_directories, write_atomically
from vas_core.problems import structure_problems

Told = TypeVar("Told", bound=BaseModel)

FILE = "last-good.json"


class _Document(BaseModel, Generic[Told]):
    version: int = 1
    saved_at: float
    told: Told


@dataclass(frozen=True)
class LastGood(Generic[Told]):
    """A file of inputs in `directory`, for its owner alone. A write is durable or has no effect."""

    directory: Path
    model: type[Told]

    def write(self, told: Told) -> None:
        """Replaces the kept inputs. Raises OSError."""
        make_directories(self.directory, mode=0o700)
        document = _Document[Told](saved_at=time.time(), told=told)
        write_atomically(self.directory / FILE, document.model_dump_json() + "\n", mode=0o600)

    def read(self) -> tuple[Told, float] | None:
        """Returns the kept inputs and the time of their writing (epoch seconds); None without any.

        Raises VasError if the file cannot be used.
        """
        file = self.directory / FILE
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
            with os.fdopen(descriptor, "rb") as stream:
                data = stream.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as wrong:
            raise VasError(f"cannot be read: {wrong.strerror}", where=str(file)) from wrong
        try:
            found = _Document[self.model].model_validate_json(data)  # type: ignore[name-defined]
        except ValidationError as wrong:
            hint = "remove it: it is written again when the files are right"
            what = structure_problems(wrong, self.model)[0].text()
            raise VasError(what, where=str(file), hint=hint) from wrong
        return found.told, found.saved_at
