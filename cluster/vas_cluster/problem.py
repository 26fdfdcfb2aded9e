"""A problem of a cluster map, as one line of a message.

`examples/bad/*.expected` holds the lines. The Java reader refuses less, in its own words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class MapProblem:
    """A problem of a cluster map: the key, what is wrong with its value, and the fix."""

    path: KeyPath
    what: str
    fix: str

    def line(self, file: Path | str) -> str:
        """Returns `FILE: hosts[1].address: WHAT; FIX`."""
        where = f"{file}: {key_text(self.path)}" if self.path else str(file)
        return f"{where}: {self.what}; {self.fix}"


def key_text(path: KeyPath) -> str:
    """Returns a key path as text: `("hosts", 1, "address")` is `hosts[1].address`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


class ClusterProblems(BadInput):
    """A cluster map has one or more problems, one line each."""

    def __init__(self, file: Path | str, problems: Iterable[MapProblem]) -> None:
        self.problems = sorted(problems, key=lambda p: [(isinstance(k, str), k) for k in p.path])
        super().__init__("\n".join(problem.line(file) for problem in self.problems))
