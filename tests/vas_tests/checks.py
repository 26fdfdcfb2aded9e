"""The checks that `./vas test` runs: each is one command one can also type."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
MAVEN = ("mvn", "-B", "-ntp", "-q", "-f", "yarn-plugins/pom.xml")


@dataclass(frozen=True)
class Check:
    """A linter or a test suite. `fast` ones together stay under a minute."""

    name: str
    argv: tuple[str, ...]
    fast: bool


@dataclass(frozen=True)
class Outcome:
    """How a check ended: its exit status and wall time in seconds."""

    check: Check
    status: int
    seconds: float


def _python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", *arguments)


CHECKS = (
    Check("ruff", _python("ruff", "check", "."), True),
    Check("ruff format", _python("ruff", "format", "--check", "."), True),
    Check("mypy", _python("mypy"), True),
    Check(
        "shellcheck", (str(Path(sys.executable).with_name("shellcheck")), "vas", ".ci/run"), True
    ),
    Check("python", _python("pytest", "-q", "-m", "not slow"), True),
    Check("java", (*MAVEN, "verify"), False),
    Check("lab", _python("pytest", "-q", "-m", "slow"), False),
)


def run_checks(checks: Iterable[Check]) -> list[Outcome]:
    """Runs each check in the repository, its output straight through; none stops the next."""
    outcomes = []
    for check in checks:
        print(f"== {check.name}", flush=True)
        started = time.monotonic()
        status = subprocess.run(check.argv, cwd=REPOSITORY, check=False).returncode
        outcomes.append(Outcome(check, status, time.monotonic() - started))
    return outcomes
