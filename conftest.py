"""What holds for every test: a unit test leaves this machine alone.

A test that is not marked `machine` (or `slow`) fails when it starts a program or opens anything
in /sys or /proc/sys, whichever way: the interpreter itself reports both. And time decides no test.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

# Before pytest makes a module `ansible` of the folder, to hold ansible/tests in.
import ansible  # noqa: F401
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("timeless", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("timeless")

# Messages name the program as `vas`, however these tests were started; fixtures of modules too.
os.environ.pop("VAS_PROGRAM", None)
# Ansible makes directories where it is at home, as soon as it is imported: not in the tester's.
os.environ.setdefault("ANSIBLE_HOME", str(Path(__file__).parent / "build" / "ansible"))

_PROGRAMS = {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "pty.spawn"}
_PATHS = {"open", "os.listdir", "os.scandir", "os.chmod", "os.remove", "os.mkdir"}
_KERNEL = ("/sys", "/proc/sys")
_guarded = False


def _audit(event: str, arguments: tuple[object, ...]) -> None:
    if not _guarded:
        return
    if event in _PROGRAMS:
        pytest.fail(f"a unit test starts a program: {arguments[:2]}; mark it `machine`")
    if event in _PATHS and isinstance(arguments[0], str | bytes):
        path = os.path.normpath(os.fsdecode(arguments[0]))
        if any(path == tree or path.startswith(f"{tree}/") for tree in _KERNEL):
            pytest.fail(f"a unit test touches {path}; give it a Root, or mark it `machine`")


sys.addaudithook(_audit)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Passes over the files without a slow test where only such are wanted: three of four."""
    wanted = config.option.markexpr
    slow_alone = wanted.split(" ")[0] in ("slow", "long", "nightly") and " or " not in wanted
    if not slow_alone or not collection_path.match("test_*.py"):
        return None
    return True if "mark.slow" not in collection_path.read_text() else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the tests that share the lab of tests/conftest.py: they take turns, others need not."""
    for item in items:
        if "lab" in getattr(item, "fixturenames", ()):
            item.add_marker("lab")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Guards the test and the fixtures that are made for it."""
    global _guarded
    _guarded = not (item.get_closest_marker("machine") or item.get_closest_marker("slow"))
    try:
        return (yield)
    finally:
        _guarded = False


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tells `vas test` how many tests were skipped, and how many passed."""
    if file := os.environ.get("VAS_COUNTED_TESTS"):
        counts = (len(terminalreporter.stats.get(kind, [])) for kind in ("skipped", "passed"))
        Path(file).write_text(" ".join(map(str, counts)))


@pytest.fixture
def usual_umask() -> Iterator[None]:
    """The umask that lets others read, whatever the tester's is."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.fixture
def strict_umask() -> Iterator[None]:
    """As hardened machines have it (CIS): what others have to read is not by itself."""
    before = os.umask(0o027)
    yield
    os.umask(before)
