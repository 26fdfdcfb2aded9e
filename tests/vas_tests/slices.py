"""The nightly tests in slices: CI runs one at each commit, in turn, and so all again and again."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import yaml

from vas_core.errors import BadInput
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_tests.checks import Extent, Outcome, SuiteCheck

SLICES = REPOSITORY / "tests/slices.yml"
GREEN_RUNS = REPOSITORY / "docs/evidence/slices.md"

_HEAD = """# The last green run of each slice of the nightly tests

Written by `./vas test --slice N --record`; `./vas test --slices` prints it beside what each slice
holds. CI runs one slice at each commit: the number of commits modulo the number of slices.

| Slice | Date | Commit | Minutes | Tests skipped |
|---|---|---|---|---|
"""
_ROW = re.compile(
    r"\| (?P<name>.+?) \| (?P<date>\S+) \| (?P<commit>\S+)"
    r" \| (?P<minutes>\d+) \| (?P<skipped>\d+) \|"
)


@dataclass(frozen=True)
class Slice:
    """A part of the nightly tests, with its number from 1; `tests` are files below the repository.

    `alone` marks a part whose single test takes longer than the 15 minutes of the others.
    """

    number: int
    name: str
    tests: tuple[str, ...]
    alone: bool = False

    def check(self) -> SuiteCheck:
        """Returns the check that runs the slice's tests."""
        pytest = (sys.executable, "-m", "pytest", "-q", "--durations=10", "-m", "nightly")
        name = f"nightly, slice {self.number}"
        return SuiteCheck(name, (*pytest, *self.tests), Extent.CI, longest_seconds=900)


@dataclass(frozen=True)
class GreenRun:
    """A run of a slice in which tests passed and none failed; `skipped` is the number left out."""

    date: str
    commit: str
    minutes: int
    skipped: int


def read_slices() -> list[Slice]:
    """Returns the slices in the order of their file."""
    return [
        Slice(number, part["name"], tuple(part["tests"]), part.get("alone", False))
        for number, part in enumerate(yaml.safe_load(SLICES.read_text()), start=1)
    ]


def slice_of_number(number: int) -> Slice:
    """Returns the slice of this number. Raises BadInput if there is none."""
    slices = read_slices()
    if not 1 <= number <= len(slices):
        raise BadInput(f"--slice {number}: the slices are 1 to {len(slices)}; see --slices")
    return slices[number - 1]


def slice_of_this_commit() -> Slice:
    """Returns the slice whose turn it is: the number of commits modulo the number of slices.

    Slices that hold a single long test have no turn: CI has no time for them.
    """
    slices = [part for part in read_slices() if not part.alone]
    return slices[number_of_commits() % len(slices)]


def number_of_commits() -> int:
    """Returns the number of commits up to the checked-out one, which decides whose turn it is."""
    return int(_git("rev-list", "--count", "HEAD"))


def read_green_runs(path: Path = GREEN_RUNS) -> dict[str, GreenRun]:
    """Returns the recorded green run of each slice, by the slice's name."""
    text = path.read_text() if path.exists() else ""
    return {
        row["name"]: GreenRun(row["date"], row["commit"], int(row["minutes"]), int(row["skipped"]))
        for row in _ROW.finditer(text)
    }


def record_green_run(ran: Slice, outcome: Outcome, path: Path = GREEN_RUNS) -> None:
    """Records in the file of green runs that a slice was green today, at the checked-out commit."""
    runs = read_green_runs(path)
    minutes = max(1, round(outcome.seconds / 60))
    commit = _git("rev-parse", "--short=10", "HEAD")
    today = date.today().isoformat()
    runs[ran.name] = GreenRun(today, commit, minutes, outcome.skipped or 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_HEAD + "".join(_rows(read_slices(), runs)))


def _rows(slices: Sequence[Slice], runs: dict[str, GreenRun]) -> list[str]:
    return [
        f"| {part.name} | {run.date} | {run.commit} | {run.minutes} | {run.skipped} |\n"
        for part in slices
        if (run := runs.get(part.name))
    ]


def _git(*arguments: str) -> str:
    return run(["git", "-C", str(REPOSITORY), *arguments]).stdout.strip()
