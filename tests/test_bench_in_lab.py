"""`vas bench shuffle` as a user runs it, small: the shape of its JSON, and what is counted.

Times of so small a job on a machine that does other things say nothing: none is looked at.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(900)]

SHUFFLE = [sys.executable, "-m", "vas_core", "bench", "shuffle", "--json"]
SMALL = ["--size", "32M", "--rounds", "1", "--without-tez", "--file-maps", "5"]
KEYS = ["name", "value", "interval", "n", "goal", "met", "p"]
# Hadoop writes 0.3 MB of configuration in each task, stock or not: at this size it is seen.
CONFIGURATION_BYTES = 12 * 400_000


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, Any]]:
    """The rows of TeraSort and of files, by name."""
    directory = Path(__file__).parents[1] / "build" / "lab" / "test-bench"
    argv = [*SHUFFLE, *SMALL, "--rows", "terasort", "--rows", "files"]
    env = {**os.environ, "VAS_LABS": str(directory)}
    done = subprocess.run(argv, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {row["name"]: row for row in json.loads(done.stdout)["rows"]}


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
