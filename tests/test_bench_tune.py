"""`vas bench tune` as a user runs it: the smallest search that can end in a verdict.

Whether one sort buffer is faster than another on a machine that does other things is not asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vas_bench.results.store import read_results

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(3600),
]

LABS = Path(__file__).parents[1] / "build" / "lab" / "test-bench-tune"
TUNE = [sys.executable, "-m", "vas_core", "bench", "tune"]
PLAN: dict[str, Any] = {
    "name": "small",
    "size": "32M",
    "hosts": 2,
    "baseline": {"split": "16M", "reducers": 1},
    "sweep": {"sort_buffer": ["32M", "64M", "512M"]},
    "confirm": {"finalists": 1, "rounds": 6},
    "drop_caches": False,
}


def test_a_search_ends_in_a_verdict_and_goes_on_where_it_was_ended(tmp_path: Path) -> None:
    plan, results, profile = tmp_path / "p.yaml", tmp_path / "r.jsonl", tmp_path / "p.xml"
    plan.write_text(json.dumps(PLAN))
    options = [str(plan), "--out", str(results), "--profile", str(profile)]
    ended = run(*options, "--budget", "150s")
    assert ended.returncode in (0, 1), ended.stderr
    before = read_results(results, say=print)
    if ended.returncode:
        assert "go on by --resume" in ended.stderr
    ended = run(*options, "--resume", "--json")
    assert ended.returncode == 0, ended.stderr
    assert "not tried: sort buffer 512 MiB" in ended.stderr
    said, runs = json.loads(ended.stdout), read_results(results, say=print)
    assert runs[: len(before)] == before
    assert [run.invalid for run in runs] == [None] * (1 + 2 + 2 * 6)
    assert len([run for run in runs if run.counts]) == 2 * 6
    assert {name: len(values) for name, values in said["seconds"].items()} == {
        "baseline": 6,
        said["finalists"][0]: 6,
    }
    assert profile.exists() == (said["recommended"] is not None)


def run(*options: str) -> subprocess.CompletedProcess[str]:
    LABS.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "VAS_LABS": str(LABS)}
    return subprocess.run(
        [*TUNE, *options], env=environment, capture_output=True, text=True, check=False
    )
