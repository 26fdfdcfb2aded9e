"""Programs of attackers and of careless users, built from the Java sources beside this file."""

from __future__ import annotations

import json
import subprocess
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

from vas_core.process import run
from vas_lab.lab import Lab
from vas_tests.attempts import Attempt, attempts
from vas_tests.faults import staging
from vas_tests.in_lab import VAS, inside

SOURCES = Path(__file__).parent
DIRECTORY = "hostile"
_RUN = {
    "mapreduce.map.speculative": "false",
    "mapreduce.reduce.speculative": "false",
    "mapreduce.jobhistory.jhist.format": "json",
    # A map that was left unfinished fails at once, not when the reducers have waited for it.
    "mapreduce.job.reduce.slowstart.completedmaps": "1.0",
}


def build(lab: Lab, directory: Path) -> Path:
    """Compiles the programs against the lab's Hadoop and returns the jar made in `directory`.

    Raises CommandFailed if they do not compile.
    """
    bin_ = lab.spec.java.parent
    sources = [str(path) for path in SOURCES.rglob("*.java")]
    classes = directory / "classes"
    run(
        [bin_ / "javac", "-nowarn", "-proc:none", "-cp", lab.spec.jars, "-d", classes, *sources],
        timeout_seconds=120,
    )
    jar = directory / "attack.jar"
    run([bin_ / "jar", "--create", "--file", jar, "-C", classes, "."], timeout_seconds=60)
    return jar


@dataclass(frozen=True)
class AttackRun:
    """A job that `vas submit` ran to its end: exit status, printed text, application id."""

    lab: Lab
    status: int
    said: str
    application: str
    output: str = field(repr=False, default="")

    def lines(self) -> list[str]:
        """Returns the lines of the job's output files, in the order of the files' names."""
        directory = inside(self.lab, self.output)
        return self.lab.call(["sh", "-euc", f"cat {directory}/part-r-*"]).stdout.splitlines()

    @property
    def number(self) -> str:
        """Returns the number that the ids of application, job and containers have in common."""
        return self.application.removeprefix("application_")

    def attempts(self) -> dict[str, Attempt]:
        """Returns the job's task attempts that have ended, by names such as m_000000_0."""
        return attempts(staging(self.lab), self.number)


@dataclass(frozen=True)
class Program:
    """The jar of the attackers' programs, and the lab whose YARN runs them."""

    lab: Lab
    jar: Path

    def write(self, case: str, **files: Iterable[str]) -> None:
        """Writes the input of a case: a file of these lines for each keyword argument."""
        directory = inside(self.lab, DIRECTORY, case, "in")
        self.lab.call(["rm", "-rf", str(directory.parent)])
        self.lab.call(["mkdir", "-p", str(directory)])
        for name, lines in files.items():
            text = "".join(f"{line}\n" for line in lines)
            script = 'cat >"$1"'
            argv = self.lab.enter(["sh", "-euc", script, "sh", str(directory / name)])
            subprocess.run(argv, input=text, text=True, check=True)

    def run(
        self,
        case: str,
        profile: str = "default",
        conf: Mapping[str, object] | None = None,
        timeout_seconds: float = 500,
    ) -> AttackRun:
        """Runs a case by `vas submit` with a job profile to its end, failed or not, and returns it.

        Raises subprocess.TimeoutExpired after `timeout_seconds`.
        """
        output = f"{DIRECTORY}/{case}/out-{profile}"
        self.lab.call(["rm", "-rf", str(inside(self.lab, output))])
        places = {"attack.mount": str(inside(self.lab)), "attack.victim": str(victim(self.lab))}
        given = {key: str(value) for key, value in (conf or {}).items()}
        options = [f"-D{key}={value}" for key, value in (_RUN | places | given).items()]
        words = ["submit", "--json", "--profile", profile, str(self.jar), "attack.Attack", *options]
        argv = self.lab.enter([*VAS, *words, case, f"/{DIRECTORY}/{case}/in", f"/{output}"])
        done = subprocess.run(
            argv, capture_output=True, text=True, check=False, timeout=timeout_seconds
        )
        applications = _found(done.stdout).get("applications", [])
        assert len(applications) == 1, done.stdout + done.stderr
        return AttackRun(
            self.lab, done.returncode, done.stdout + done.stderr, applications[0], output
        )


def _found(printed: str) -> dict[str, Any]:
    start = printed.find("{")
    return dict(json.loads(printed[start:])) if start >= 0 else {}


def victim(lab: Lab) -> Path:
    """Returns the file that an attacker would like to have written or removed."""
    return inside(lab, DIRECTORY, "victim")


def digests(keys: Iterable[str], prefix: int | None = None) -> list[str]:
    """Returns what Word.Digest writes of keys, grouped by their first `prefix` letters."""
    lines = []
    for _, group in groupby(sorted(keys), lambda key: key[:prefix]):
        words = list(group)
        crc = zlib.crc32("".join(f"{word}\n" for word in words).encode())
        lines.append(f"{words[0]}\t{len(words)} {crc}")
    return lines
