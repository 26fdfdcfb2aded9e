"""`vas bench interference` as a user runs it, small: every arm, kept turns, nothing left behind.

Rates of so short a measurement on a machine that does other things say nothing: none is looked at.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vas_bench.interference.scope import LAB, PATTERN_NAMES

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("fio") is None, reason="no fio"),
    pytest.mark.skipif(os.geteuid() != 0, reason="cgroups are root's"),
]

LABS = Path(__file__).parents[1] / "build" / "lab" / "test-interference"
COMMAND = [sys.executable, "-m", "vas_core", "bench", "interference", "--json"]
SMALL = ["--rounds", "1", "--warm-up", "0", "--seconds", "2", "--size", "64M"]
CGROUPS = Path("/sys/fs/cgroup")


def play(kept: Path) -> subprocess.CompletedProcess[str]:
    LABS.mkdir(parents=True, exist_ok=True)
    argv = [*COMMAND, *SMALL, "--resume", str(kept)]
    env = {**os.environ, "VAS_LABS": str(LABS)}
    return subprocess.run(argv, env=env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("interference") / "turns.json"


@pytest.fixture(scope="module")
def found(kept: Path) -> dict[str, Any]:
    """What a session printed."""
    done = play(kept)
    if done.returncode == 77:
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stderr
    parsed: dict[str, Any] = json.loads(done.stdout)
    return parsed


def test_every_arm_ran_every_pattern(found: dict[str, Any]) -> None:
    turns = {turn["arm"]: turn for turn in found["turns"]}
    assert set(turns) == set(LAB.arms)
    for turn in turns.values():
        assert set(turn["bytes_per_second"]) == set(PATTERN_NAMES)
        assert min(turn["bytes_per_second"].values()) > 0
    assert turns["alone"]["job_seconds"] == []
    assert all(min(turns[arm]["job_seconds"]) > 0 for arm in ("host", "guest"))


def test_one_round_is_never_significant(found: dict[str, Any]) -> None:
    assert not any(it["significant"] for it in found["comparisons"])


def test_no_cgroup_is_left(found: dict[str, Any]) -> None:
    assert not list(CGROUPS.glob("**/vas-interference"))


def test_what_is_kept_is_not_played_again(found: dict[str, Any], kept: Path) -> None:
    before = kept.read_bytes()
    again = play(kept)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout) == found
    assert kept.read_bytes() == before
