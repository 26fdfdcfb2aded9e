"""Reads and writes events of a job, or of a lab's start: JSON lines on stdout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import BaseModel


class Event(BaseModel):
    """An event: `progress` and `output` any number of times, then `ready` or `failed`.

    `output` is a line that a job printed. The text of a job's `ready` is its result as JSON.
    """

    kind: Literal["progress", "output", "ready", "failed"]
    text: str


def emit(event: Event) -> None:
    """Prints an event; it arrives at once."""
    print(event.model_dump_json(), flush=True)


def read_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Yields the events that arrive, until the other side closes."""
    return (Event.model_validate_json(line) for line in lines)
