"""Reads the placement plugin's log: a line per decision, `key=value` after the logger's name.

The writer is org.vas.scheduler (docs/placement.md has the format).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.reading import open_given

DIRECTORY_KEY = "vas.placement.log-directory"

_LOGGER = re.compile(r"\bvas\.placement\b")
_FIELD = re.compile(r"(\w+)=(.*)")
_MILLISECONDS = re.compile(r"[0-9]{1,18}")
_LONGEST_LINE_CHARS = 1 << 16


@dataclass(frozen=True)
class PlacementDecision:
    """A line of the log: `host` is the guest waited for, `cause` the reason why a wait ended.

    A grant has a `container` and a `locality`; for other events they are empty. `key` groups the
    asks of one application by priority: a failed map is asked for again with another one.
    """

    app: str
    event: str
    host: str
    node: str
    cause: str
    waited_ms: int
    container: str = ""
    locality: str = ""
    key: str = ""


def parse(lines: Iterable[str]) -> Iterator[PlacementDecision]:
    """Yields the decisions in a log; skips lines of other loggers."""
    for line in lines:
        fields = _fields(line)
        if fields:
            waited = fields.get("waited_ms", "")
            yield PlacementDecision(
                app=fields.get("app", ""),
                event=fields.get("event", ""),
                host=fields.get("host", ""),
                node=fields.get("node", ""),
                cause=fields.get("cause", ""),
                waited_ms=int(waited) if _MILLISECONDS.fullmatch(waited) else 0,
                container=fields.get("container", ""),
                locality=fields.get("locality", ""),
                key=fields.get("key", ""),
            )


def _fields(line: str) -> dict[str, str]:
    """The `key=value` words that a line of the plugin's logger ends with."""
    logger = _LOGGER.search(line)
    fields: dict[str, str] = {}
    # From the end, word by word: a line of others may hold anything, as often as it likes.
    for word in reversed(line[logger.end() :].split() if logger else ()):
        found = _FIELD.fullmatch(word)
        if found is None:
            break
        fields.setdefault(found[1], found[2])
    return fields


def files_of(directory: Path, user: str, app: str) -> list[Path]:
    """Returns the log files of one application of `user`, in the order in which they were written.

    The ResourceManager begins another file after its restart (org.vas.scheduler.DecisionFiles).
    Returns an empty list if there is none, or if this user may not look.
    """
    part = re.compile(re.escape(app) + r"(?:\.([0-9]{1,3}))?\.log")
    if "/" in user or user in ("", ".", ".."):
        return []
    try:
        names = sorted(entry.name for entry in os.scandir(directory / user))
    except OSError:
        return []
    found = [(int(match[1] or 0), name) for name in names if (match := part.fullmatch(name))]
    return [directory / user / name for _, name in sorted(found)]


def read(files: Iterable[Path]) -> list[PlacementDecision]:
    """Returns the decisions of several log files, in the order of files.

    Lines longer than 65,536 characters are not the plugin's, and are read in parts. Raises BadInput
    for a file that cannot be read and for a device.
    """
    found: list[PlacementDecision] = []
    for file in files:
        try:
            with os.fdopen(open_given(file), errors="replace") as stream:
                found.extend(parse(iter(partial(stream.readline, _LONGEST_LINE_CHARS), "")))
        except OSError as wrong:
            raise BadInput(f"cannot be read: {wrong.strerror}", where=str(file)) from wrong
    return found
