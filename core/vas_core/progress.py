"""Shows the progress of a sequence of steps, or of one long wait.

Of steps: the one that runs, and the time that is left.

How long a step takes is learned: each run stores its steps' seconds and the next one counts down
from them. On a terminal one line is kept up to date; elsewhere each step is one line.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.status import Status

from vas_core.files import write_atomically

_TICK_SECONDS = 0.5
_PATIENCE_SECONDS = 2.0
_LINE_SECONDS = 15.0


@dataclass(frozen=True)
class Step:
    """A step and the seconds that it takes where nothing has been learned yet."""

    name: str
    expected_seconds: float


class Steps:
    """The progress display. Use `Steps.show`, then `with steps.step(name):` for each in turn."""

    def __init__(self, steps: Sequence[Step], learned: Path, console: Console) -> None:
        self._expected = {step.name: step.expected_seconds for step in steps} | _load(learned)
        self._names = [step.name for step in steps]
        self._learned = learned
        self._console = console
        self._status: Status | None = None
        self._taken: dict[str, float] = {}

    @classmethod
    @contextmanager
    def show(cls, steps: Sequence[Step], learned: Path) -> Iterator[Steps]:
        """Shows progress on stderr. `learned` is the file that keeps the steps' seconds.

        Raises OSError if that file cannot be written at the end.
        """
        display = cls(steps, learned, Console(file=sys.stderr, highlight=False))
        yield display
        learned.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(learned, json.dumps(display._taken, indent=2) + "\n")

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Runs one step of the list; an unknown name is a programming error (ValueError)."""
        number = self._names.index(name) + 1
        started = time.monotonic()
        title = f"[{number}/{len(self._names)}] {name}"
        if self._console.is_terminal:
            with self._counting_down(name, title, started):
                yield
        else:
            self._console.print(f"{title} ({_left(self._left(name, 0))})", markup=False)
            yield
        self._taken[name] = round(time.monotonic() - started, 1)
        if self._console.is_terminal:
            self._console.print(f"{title} {self._taken[name]:.0f} s", markup=False)

    def expect(self, seconds: Mapping[str, float]) -> None:
        """Replaces the expected seconds of steps that are still to come."""
        self._expected |= seconds

    def say(self, text: str) -> None:
        """Prints a line above the progress."""
        self._console.print(text, markup=False)

    @contextmanager
    def _counting_down(self, name: str, title: str, started: float) -> Iterator[None]:
        with self._console.status("") as status:

            def tick() -> None:
                left = self._left(name, time.monotonic() - started)
                status.update(f"{title.replace('[', chr(92) + '[')}: {_left(left)}")

            with _repeated(tick, first_seconds=0, seconds=_TICK_SECONDS):
                yield

    def _left(self, name: str, elapsed: float) -> float:
        later = self._names[self._names.index(name) + 1 :]
        return max(0.0, self._expected[name] - elapsed) + sum(self._expected[n] for n in later)


@contextmanager
def waiting(title: str, text: Callable[[], str]) -> Iterator[None]:
    """Shows on stderr how far a wait of more than two seconds is, until the `with` block ends.

    `text` tells how far; another thread calls it. On a terminal one line is kept up to date,
    elsewhere a line is printed every 15 seconds.
    """
    console = Console(file=sys.stderr, highlight=False)
    status = console.status("")

    def show() -> None:
        line = f"{title}: {text()}"
        if console.is_terminal:
            status.update(escape(line))
            status.start()
        else:
            console.print(line, markup=False, soft_wrap=True)

    seconds = _TICK_SECONDS if console.is_terminal else _LINE_SECONDS
    try:
        with _repeated(show, first_seconds=_PATIENCE_SECONDS, seconds=seconds):
            yield
    finally:
        status.stop()


@contextmanager
def _repeated(show: Callable[[], None], *, first_seconds: float, seconds: float) -> Iterator[None]:
    """Calls `show` in another thread after `first_seconds`, then every `seconds`."""
    ended = threading.Event()

    def run() -> None:
        pause = first_seconds
        while not ended.wait(pause):
            show()
            pause = seconds

    ticker = threading.Thread(target=run, daemon=True)
    ticker.start()
    try:
        yield
    finally:
        ended.set()
        ticker.join()


def _left(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"about {minutes} min {rest:02d} s left" if minutes else f"about {rest} s left"


def _load(learned: Path) -> dict[str, float]:
    try:
        return {str(k): float(v) for k, v in json.loads(learned.read_text()).items()}
    except (OSError, ValueError, AttributeError):
        return {}
