"""Shows events to people: on a terminal one line that is kept up to date, else a line each."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from vas_yarn.jobs.events import Event
from vas_yarn.jobs.place import OnEvent


class Display:
    """Shows the events of a job or a lab's start on stderr, after `title`.

    `expected_seconds` is how long it took before; None: no time left is shown.
    """

    def __init__(self, title: str, expected_seconds: float | None, status: Status | None) -> None:
        self._title, self._expected, self._status = title, expected_seconds, status
        self._started = time.monotonic()
        self._shown = ""

    def show(self, event: Event) -> None:
        """Shows the next event; skips those of kind `output`."""
        if event.kind == "output":
            return
        if self._status:
            self._status.update(escape(f"{self._title}: {event.text}{self._left()}"))
        elif event.kind == "progress" and event.text != self._shown:
            print(f"{self._title}: {event.text}{self._left()}", file=sys.stderr, flush=True)
        self._shown = event.text

    def _left(self) -> str:
        if self._expected is None:
            return ""
        left = self._expected - (time.monotonic() - self._started)
        return f", about {left:.0f} s left" if left >= 1 else ""


@contextmanager
def display(title: str, expected_seconds: float | None = None) -> Iterator[OnEvent]:
    """Shows progress while the `with` block runs; yields the function that takes each event."""
    console = Console(file=sys.stderr, highlight=False)
    if console.is_terminal:
        with console.status(escape(title)) as status:
            yield Display(title, expected_seconds, status).show
    else:
        yield Display(title, expected_seconds, None).show
