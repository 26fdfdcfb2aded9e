"""A crash-safe record of the values a host had before VAS changed them.

It is for the rooms that change a host: routing (sysctls, rules) and affinity (IRQs, cpusets).

Protocol: `remember` values (durable before the change), change them, `confirm`.
After a crash, an entry that was remembered but not confirmed may or may not have been
changed: rolling it back is right in both cases, so `pending_rollback` gives both kinds.

    with Journal.open(path) as journal:
        journal.remember({"net.ipv4.conf.vf0.rp_filter": "1"})
        ...change it...
        journal.confirm(["net.ipv4.conf.vf0.rp_filter"])
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from vas_core.errors import VasError
from vas_core.files import make_directories, write_atomically
from vas_core.predictable_names import JOURNAL_LOCK
from vas_core.safe_open import open_own, read_own

_MOST_BYTES = 16 << 20


class JournalEntry(BaseModel):
    """One recorded value; `original` is None where the value did not exist."""

    model_config = ConfigDict(extra="forbid")

    target: str
    original: str | None
    confirmed: bool = False


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    entries: list[JournalEntry] = []


class Journal:
    """The journal file of one component. Use `Journal.open`, which locks it."""

    def __init__(self, path: Path, document: _Document) -> None:
        self._path = path
        self._document = document

    @classmethod
    @contextmanager
    def open(cls, path: Path) -> Iterator[Journal]:
        """Opens a journal for one process at a time; another one waits for the lock.

        Raises VasError if the file is damaged or of another version, Planted if it or its lock is
        not this user's own file, OSError if it cannot be opened. The methods that change the
        journal raise OSError if it cannot be written.
        """
        make_directories(path.parent)
        lock = open_own(path.with_name(JOURNAL_LOCK.of(name=path.name)), os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield cls(path, _load(path))
        finally:
            os.close(lock)

    @staticmethod
    def peek(path: Path) -> list[JournalEntry]:
        """Returns the entries that a rollback would restore now, without waiting for the lock.

        Without a journal the list is empty. Raises VasError if the file cannot be used, OSError
        if it cannot be read.
        """
        return Journal(path, _load(path)).pending_rollback()

    def remember(self, originals: Mapping[str, str | None]) -> None:
        """Records values before their first change; None for a value that does not exist yet.

        A target that is recorded already keeps its first value. Raises OSError.
        """
        known = {entry.target for entry in self._document.entries}
        new = [JournalEntry(target=t, original=o) for t, o in originals.items() if t not in known]
        if new:
            self._document.entries += new
            self._save()

    def confirm(self, targets: Collection[str]) -> None:
        """Records that changes of recorded values succeeded.

        Raises KeyError for a target never recorded, OSError if the journal cannot be written.
        """
        known = {entry.target: entry for entry in self._document.entries}
        entries = [known[target] for target in targets]
        if not all(entry.confirmed for entry in entries):
            for entry in entries:
                entry.confirmed = True
            self._save()

    def rename(self, targets: Mapping[str, str]) -> None:
        """Renames the targets of entries (old name -> new name). Raises OSError.

        An entry that stands at a new name already is dropped: its value was read after VAS's
        change.
        """
        arrived = set(targets.values())
        kept = [e for e in self._document.entries if e.target in targets or e.target not in arrived]
        for entry in kept:
            entry.target = targets.get(entry.target, entry.target)
        self._document.entries = kept
        if targets:
            self._save()

    def forget(self, targets: Collection[str]) -> None:
        """Drops entries, whose original values are in force again. Raises OSError."""
        kept = [entry for entry in self._document.entries if entry.target not in targets]
        if len(kept) < len(self._document.entries):
            self._document.entries = kept
            self._save()

    def pending_rollback(self) -> list[JournalEntry]:
        """Returns the entries that a rollback must restore, last change first."""
        return [entry.model_copy() for entry in reversed(self._document.entries)]

    def _save(self) -> None:
        text = self._document.model_dump_json(indent=2) + "\n"
        write_atomically(self._path, text, mode=0o600)


def _load(path: Path) -> _Document:
    try:
        return _Document.model_validate_json(read_own(path, _MOST_BYTES, also_of=(0,)))
    except FileNotFoundError:
        return _Document()
    except ValidationError as wrong:
        raise VasError(
            f"the journal of original values is damaged: {wrong.errors()[0]['msg']}",
            where=str(path),
            hint="keep the file, restore the values by hand, then move it away",
        ) from wrong
