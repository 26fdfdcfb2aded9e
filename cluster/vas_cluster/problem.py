"""What is wrong with a cluster map: one problem, one line.

`examples/bad/*.expected` holds the lines. The Java reader refuses less, in its own words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput

KeyPath = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """A key, what is wrong with its value, and the fix."""

    path: KeyPath
    what: str
    fix: str

    def line(self, file: Path | str) -> str:
        """`FILE: hosts[1].address: WHAT; FIX`."""
        where = f"{file}: {key_text(self.path)}" if self.path else str(file)
        return f"{where}: {self.what}; {self.fix}"


def key_text(path: KeyPath) -> str:
    """`("hosts", 1, "address")` -> `hosts[1].address`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


class ClusterProblems(BadInput):
    """A cluster map with one or more problems, a line each."""

    def __init__(self, file: Path | str, problems: Iterable[Problem]) -> None:
        self.problems = sorted(problems, key=lambda p: [(isinstance(k, str), k) for k in p.path])
        super().__init__("\n".join(problem.line(file) for problem in self.problems))
