"""Writes and reads the events of a job or of a lab's start: one line of JSON each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from pydantic import BaseModel


class Event(BaseModel):
    """An event. `progress` and `output` come any number of times, `ready` or `failed` ends them.

    The text of `output` is a line that a job printed; that of a job's `ready` is its result as
    JSON.
    """

    kind: Literal["progress", "output", "ready", "failed"]
    text: str


def emit(event: Event) -> None:
    """Prints an event on stdout, unbuffered."""
    print(event.model_dump_json(), flush=True)


def read_events(lines: Iterable[bytes]) -> Iterator[Event]:
    """Yields the event of each line as it comes. Raises ValidationError for another kind of
    line."""
    return (Event.model_validate_json(line) for line in lines)
