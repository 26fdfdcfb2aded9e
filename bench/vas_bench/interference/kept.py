"""The turns so far, in a file if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, JsonValue

from vas_bench.interference.turns import Played
from vas_core.documents import read_json
from vas_core.errors import BadInput
from vas_core.files import write_atomically


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")

    settings: dict[str, JsonValue]
    turns: list[Played]


class Kept:
    """Turns of one set of settings. Raises BadInput for a file with turns of another one."""

    def __init__(self, settings: Mapping[str, JsonValue], file: Path | None) -> None:
        self._settings, self._file = dict(settings), file
        self._turns = self._read(file) if file and file.exists() else []

    @property
    def turns(self) -> tuple[Played, ...]:
        """All of them."""
        return tuple(self._turns)

    def add(self, turn: Played) -> None:
        """Keeps one."""
        self._turns.append(turn)
        if self._file:
            document = _Document(settings=self._settings, turns=self._turns)
            write_atomically(self._file, document.model_dump_json(indent=1) + "\n")

    def _read(self, file: Path) -> list[Played]:
        found = read_json(file, _Document, kind="file of turns", hint="give another file")
        other = [k for k in self._settings if found.settings.get(k) != self._settings[k]]
        if other:
            hint = "give the same options, or another file"
            text = f"its turns had another {', '.join(other)}"
            raise BadInput(text, where=str(file), hint=hint)
        return found.turns
