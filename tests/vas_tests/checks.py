"""The checks that `./vas test` runs: each is one command that one can also type."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from enum import Enum, IntEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from vas_core.packages import running
from vas_core.repository import REPOSITORY
from vas_tests.java_output import failed_output

# The local repository that ./vas compared with the record, if it did.
_COMPARED = os.environ.get("VAS_MAVEN_REPOSITORY")
_LOCAL = (f"-Dmaven.repo.local={_COMPARED}",) if _COMPARED else ()
COUNTS_VARIABLE = "VAS_COUNTED_TESTS"
"""The environment variable that names the file for the numbers of tests skipped and passed."""
_LAST_LINES = 60
MAVEN = ("mvn", *_LOCAL, "-B", "-ntp", "-q", "-f", "yarn-plugins/pom.xml")


class Extent(IntEnum):
    """The amount of checks to run: a minute, under half an hour, an hour, or all there is."""

    FAST = 1
    USUAL = 2
    CI = 3
    ALL = 4


class CheckLoad(Enum):
    """The load of a check on the processors, which decides what may run beside it."""

    BUSY = "keeps them busy"
    WAITS = "waits most of the time, so that others may run beside it"
    YIELDS = "may run beside one that waits, when that leaves a processor"


@dataclass(frozen=True)
class SuiteCheck:
    """A linter or a test suite, part of the extents from `least` to `most`.

    Beyond `most`, another check includes what this one runs. A check with `longest_seconds`, which
    runs pytest, may leave tests out where time is short: none begins later than so long before the
    end.
    """

    name: str
    argv: tuple[str, ...]
    least: Extent = Extent.FAST
    most: Extent = Extent.ALL
    load: CheckLoad = CheckLoad.BUSY
    longest_seconds: float | None = None

    def until(self, end: float, turn: int) -> SuiteCheck:
        """Returns the check with tests left out that would not end by `end`, seconds since 1970.

        Its files begin with that of number `turn`, so that in other turns other tests are left out.
        A check that leaves nothing out is returned as it is.
        """
        if self.longest_seconds is None:
            return self
        latest = end - self.longest_seconds
        limit = ("-p", "vas_tests.deadline", f"--begin-before={latest:.0f}", f"--turn={turn}")
        return replace(self, argv=(*self.argv, *limit))


@dataclass(frozen=True)
class Outcome:
    """A check that has ended: its exit status, wall time in seconds, and number of skipped tests.

    `skipped` and `passed` are None for a check that pytest does not run. Such a check has its last
    lines of output here, which name what failed.
    """

    check: SuiteCheck
    status: int
    seconds: float
    skipped: int | None = None
    passed: int | None = None
    last_lines: tuple[str, ...] = ()

    @property
    def ran_nothing(self) -> bool:
        """True where every test of the check was skipped, so that it shows nothing."""
        return self.passed == 0 and self.status == 0


def _python(*arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-m", *arguments)


def other_hadoops() -> list[str]:
    """Returns the Hadoop versions, besides the one built with, that the plugins compile against.

    They are pinned in the plugins' parent POM.
    """
    pom = (REPOSITORY / "yarn-plugins/pom.xml").read_text()
    pinned = re.search(r"<hadoop\.other\.versions>([\d. ]+)</", pom)
    assert pinned, "yarn-plugins/pom.xml: no property hadoop.other.versions"
    return pinned[1].split()


def _compiles_against(version: str) -> SuiteCheck:
    """Compiles the plugins against another Hadoop, beside the usual build."""
    changed = (f"-Dhadoop.version={version}", f"-Dvas.build.directory=target/hadoop-{version}")
    argv = (*MAVEN, "-pl", "layout,filesystem,scheduler,shuffle,app", *changed, "compile")
    return SuiteCheck(f"java, Hadoop {version}", argv, Extent.CI)


# A test that waits leaves its core to another.
_PROCESSES = str(3 * (os.cpu_count() or 2) // 2)


def _unit_tests(marks: str) -> tuple[str, ...]:
    return _python("pytest", "-q", "-n", _PROCESSES, "--dist", "worksteal", "-m", marks)


def _beside_one_another(marks: str) -> tuple[str, ...]:
    """Runs slow tests in processes; those of a file take turns, in the order of folders."""
    parallel = ("-n", _PROCESSES, "--dist", "loadfile", "--no-loadscope-reorder")
    return _python("pytest", "-q", "--durations=20", *parallel, "-m", marks)


_SHELLCHECK = str(Path(sys.executable).with_name("shellcheck"))

# There, where ansible.cfg says what the modules and filters are; and without a site's map.
_NO_MAP = "ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED=false"
_ANSIBLE_HOME = f"ANSIBLE_HOME={REPOSITORY / 'build/ansible'}"
_ANSIBLE_LINT = ("env", "-C", "ansible", _NO_MAP, _ANSIBLE_HOME, *_python("ansiblelint", "-q"))

_LONG_JAVA = (
    *(*MAVEN, "-pl", "workloads", "-am", "-Dvas.tests.excluded=none", "-Dgroups=long"),
    *("-Dvas.tests.compilers=4", "-Dsurefire.failIfNoSpecifiedTests=false", "test"),
)


def _rust() -> Iterator[SuiteCheck]:
    """Yields the tests of vas-shuffled, where a Rust compiler is."""
    cargo, rustc = running("cargo"), running("rustc")
    if cargo and rustc:
        tests = (str(cargo), "test", "--quiet", "--locked", "--manifest-path")
        argv = ("env", f"RUSTC={rustc}", *tests, "shuffled/Cargo.toml")
        yield SuiteCheck("rust", argv, Extent.USUAL)


_LAB = ("pytest", "-q", "--durations=20", "-m")
_SHORT = "slow and not long and not nightly"
_LONG = "long and not nightly"

# In this order: the Java check builds the jars that the lab's tests run on.
_BEFORE_RUST = (
    SuiteCheck("ruff", _python("ruff", "check", ".")),
    SuiteCheck("ruff format", _python("ruff", "format", "--check", ".")),
    SuiteCheck("mypy", _python("mypy"), load=CheckLoad.YIELDS),
    SuiteCheck("shellcheck", (_SHELLCHECK, "-a", "-x", "vas", ".ci/run")),
    SuiteCheck("yamllint", _python("yamllint", "-c", "ansible/.yamllint", "ansible")),
    SuiteCheck("python", _unit_tests("not slow and not unhurried"), most=Extent.FAST),
    SuiteCheck("python", _unit_tests("not slow"), Extent.USUAL),
    SuiteCheck("java layout", (*MAVEN, "-pl", "layout", "test"), most=Extent.FAST),
    SuiteCheck("java", (*MAVEN, "-T", "2", "verify"), Extent.USUAL),
)
_AFTER_RUST = (
    SuiteCheck("ansible-lint", _ANSIBLE_LINT, Extent.USUAL, load=CheckLoad.YIELDS),
    SuiteCheck("daemons", _beside_one_another(f"{_SHORT} and not lab"), Extent.USUAL),
    SuiteCheck("lab", _python(*_LAB, f"{_SHORT} and lab"), Extent.USUAL, load=CheckLoad.WAITS),
)
_AT_LENGTH = (
    SuiteCheck("java, at length", _LONG_JAVA, Extent.CI),
    SuiteCheck("lab, at length", _python(*_LAB, _LONG), Extent.CI, longest_seconds=300),
    SuiteCheck("lab, nightly", _python(*_LAB, "nightly"), Extent.ALL, longest_seconds=900),
)


def chosen_checks(extent: Extent) -> list[SuiteCheck]:
    """Returns the checks that `vas test` runs to this extent, on this machine."""
    # A compiler is looked for by running it, which nothing does that only loads this module.
    rust = () if extent is Extent.FAST else _rust()
    # So is the parent POM, which an installed wheel does not have.
    compiled = map(_compiles_against, other_hadoops())
    checks = (*_BEFORE_RUST, *rust, *_AFTER_RUST, *compiled, *_AT_LENGTH)
    return [check for check in checks if check.least <= extent <= check.most]


def run_checks(checks: Sequence[SuiteCheck]) -> list[Outcome]:
    """Runs each check in the repository; none stops the next.

    A check's output goes straight through. One that yields runs beside the first that waits, after
    all others where none waits, and its output is printed at its end.

    Returns:
        How each ended, in the order of the checks.
    """
    yielding = [check for check in checks if check.load is CheckLoad.YIELDS]
    others = [check for check in checks if check.load is not CheckLoad.YIELDS]
    first = next(
        (at for at, check in enumerate(others) if check.load is CheckLoad.WAITS), len(others)
    )
    with TemporaryDirectory(prefix="vas-checks-") as name, ThreadPoolExecutor(1) as beside:
        directory = Path(name)
        done = [_run(check, directory / "counts") for check in others[:first]]
        ran = [beside.submit(_run_beside, check, directory) for check in yielding]
        try:
            done += [_run(check, directory / "counts") for check in others[first:]]
        except KeyboardInterrupt:
            beside.shutdown(cancel_futures=True)
            raise
        done += [_printed(each.result()) for each in ran]
    return sorted(done, key=lambda outcome: checks.index(outcome.check))


def _run(check: SuiteCheck, counts: Path) -> Outcome:
    """Runs a check; pytest writes how many tests it skipped and passed (conftest.py)."""
    print(f"== {check.name}", flush=True)
    counts.unlink(missing_ok=True)
    started, since = time.monotonic(), time.time()
    environment = _environment() | {COUNTS_VARIABLE: str(counts)}
    status, last_lines = _shown(check, environment)
    if status and check.argv[0] == MAVEN[0]:
        for line in failed_output(REPOSITORY / "yarn-plugins", since):
            print(line, flush=True)
    seconds = time.monotonic() - started
    if not counts.exists():
        return Outcome(check, status, seconds, last_lines=last_lines)
    skipped, passed = map(int, counts.read_text().split())
    return Outcome(check, status, seconds, skipped, passed)


def _shown(check: SuiteCheck, environment: Mapping[str, str]) -> tuple[int, tuple[str, ...]]:
    """Runs a check, its output on the terminal; returns its status and, not of pytest, its end."""
    if "pytest" in check.argv:
        run = subprocess.run(check.argv, cwd=REPOSITORY, check=False, env=environment)
        return run.returncode, ()
    last: deque[str] = deque(maxlen=_LAST_LINES)
    with subprocess.Popen(
        check.argv,
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as piped:
        assert piped.stdout is not None
        for line in piped.stdout:
            print(line, end="", flush=True)
            last.append(line.rstrip("\n"))
    return piped.returncode, tuple(last)


def _run_beside(check: SuiteCheck, directory: Path) -> tuple[Outcome, Path]:
    """Runs a check at the lowest priority; returns how it ended, and the file with its output."""
    output = directory / check.name
    started = time.monotonic()
    with output.open("wb") as file:
        argv = ("nice", "-n", "19", *check.argv)
        run = subprocess.run(
            argv, cwd=REPOSITORY, check=False, env=_environment(), stdout=file, stderr=file
        )
    seconds = time.monotonic() - started
    lines = output.read_text(errors="replace").splitlines()[-_LAST_LINES:]
    return Outcome(check, run.returncode, seconds, last_lines=tuple(lines)), output


def _printed(ran: tuple[Outcome, Path]) -> Outcome:
    outcome, output = ran
    print(f"== {outcome.check.name}", output.read_text(errors="replace"), sep="\n", flush=True)
    return outcome


def _environment() -> dict[str, str]:
    # Tests start Python some thousand times: a module is compiled once.
    return {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
