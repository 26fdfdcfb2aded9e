"""A pytest plugin that begins no test after a deadline, and names those it left out.

`./vas test --minutes` loads it for the tests marked `long` and `nightly`. CI has a fixed time, and
its machine is at times half as fast as usual: a run that is cut off tells nothing of any test.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the two options of this plugin."""
    group = parser.getgroup("deadline", "a deadline for the beginning of each test")
    group.addoption(
        "--begin-before", type=float, required=True, help="seconds since 1970: the deadline"
    )
    group.addoption("--turn", type=int, default=0, help="the number of the file that runs first")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Lets the file of number `--turn` begin, and those before it follow the last."""
    items[:] = in_turn(items, config.getoption("--turn"))


def in_turn(items: Sequence[pytest.Item], turn: int) -> list[pytest.Item]:
    """Returns the tests in the order of a turn; those of a file stay together, in their order."""
    files = list(dict.fromkeys(item.path for item in items))
    if not files:
        return []
    first = turn % len(files)
    order = {path: place for place, path in enumerate([*files[first:], *files[:first]])}
    return sorted(items, key=lambda item: order[item.path])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skips the test, before any fixture of it is made, when the deadline has passed."""
    if time.time() >= item.config.getoption("--begin-before"):
        item.config.stash.setdefault(_LEFT_OUT, []).append(item.nodeid)
        pytest.skip("no time was left to begin it (--minutes)")


_LEFT_OUT = pytest.StashKey[list[str]]()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Names the tests that were left out, one to a line."""
    left_out = config.stash.get(_LEFT_OUT, [])
    if left_out:
        terminalreporter.section(f"not begun, as the time was up: {len(left_out)}")
        for name in left_out:
            terminalreporter.line(name)
