"""`vas bench shuffle` and `jbs` as a user runs them, small: their JSON, and what is counted.

Times of so small a job on a machine that does other things say nothing: none is looked at.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from vas_core.repository import REPOSITORY

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(900)]

BENCH = [sys.executable, "-m", "vas_core", "bench"]
SMALL = ["--size", "32M", "--rounds", "1", "--without-tez", "--file-maps", "5"]
KEYS = ["name", "value", "interval", "n", "goal", "met", "p"]
# Hadoop writes 0.3 MB of configuration in each task, stock or not: at this size it is seen.
CONFIGURATION_BYTES = 12 * 400_000


def measured(*words: str) -> dict[str, dict[str, Any]]:
    """Runs a benchmark; returns its rows by name."""
    env = {**os.environ, "VAS_LABS": str(REPOSITORY / "build/lab/test-bench")}
    argv = [*BENCH, *words, "--json"]
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {row["name"]: row for row in json.loads(done.stdout)["rows"]}


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, Any]]:
    """The rows of TeraSort and of files, by name."""
    return measured("shuffle", *SMALL, "--rows", "terasort", "--rows", "files")


def test_every_row_is_whole(rows: dict[str, dict[str, Any]]) -> None:
    assert len(rows) == 9
    for row in rows.values():
        assert list(row) == KEYS
        assert row["interval"][0] <= row["value"] <= row["interval"][1]


def test_bytes_and_spills(rows: dict[str, dict[str, Any]]) -> None:
    written = rows["TeraSort: intermediate bytes written / map output bytes"]
    assert 1 < written["value"] < 1.06 + CONFIGURATION_BYTES / (32 << 20)
    moved = rows["TeraSort: intermediate bytes read and written / stock's"]
    assert moved["met"] is True
    spilled = rows["TeraSort: records spilled on the reduce side"]
    assert (spilled["value"], spilled["met"]) == (0, True)


def test_files(rows: dict[str, dict[str, Any]]) -> None:
    packed = rows["files per map attempt, packed, 5 maps x 200 reducers"]
    assert (packed["value"], packed["met"]) == (2, True)
    one_each = rows["files per map attempt, per-reducer, 5 maps x 200 reducers"]
    assert (one_each["value"], one_each["goal"], one_each["met"]) == (201, None, None)


@pytest.mark.skipif(
    not (REPOSITORY / "shuffled/target/release/vas-shuffled").exists(),
    reason="vas-shuffled is not built",
)
def test_every_arm_of_the_daemon_sorts_right_and_is_seen() -> None:
    words = ("--size", "64M", "--rounds", "1", "--rows", "terasort")
    rows = measured("jbs", *words)
    assert len(rows) == 12
    assert all(list(row) == KEYS and row["n"] == 1 for row in rows.values())
    # A connection for each pair of nodes that has something for the other, and its own.
    assert 1 <= rows["TeraSort: connections open at once"]["value"] <= 4 * 4
    assert rows["TeraSort: threads of a reducer for the shuffle"]["value"] >= 1
    assert rows["TeraSort: threads of a reducer for the shuffle (stock)"]["value"] >= 1
    assert rows["TeraSort: memory of tasks and daemons, stock's map side / stock's"]["value"] > 0
