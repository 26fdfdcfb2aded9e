"""`vas bench hsph` as a user runs it: two runs of five phases in a lab, and one interrupted.

Times of so small a job on a machine that does other things say nothing: only sums are looked at.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from vas_bench.hsph.metric import NOT_TPC, PHASES
from vas_bench.results.store import read_results
from vas_core.polling import poll
from vas_tests.leftovers import assert_nothing_left, mount_table, namespaces_below

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(900)]

LABS = Path(__file__).parents[1] / "build" / "lab" / "test-bench-hsph"
HSPH = [sys.executable, "-m", "vas_core", "bench", "hsph"]
SMALL = ["--scale-factor", "0.0001", "--hosts", "2", "--split", "16M", "--reducers", "2"]
BYTES = 10**8


def start(*options: str, errors: int = subprocess.PIPE) -> subprocess.Popen[str]:
    LABS.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [*HSPH, *options],
        env={**os.environ, "VAS_LABS": str(LABS)},
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )


def test_two_runs_are_made_checked_and_kept(tmp_path: Path) -> None:
    results, prices = tmp_path / "hsph.jsonl", tmp_path / "prices.csv"
    prices.write_text("item,count,price,currency\nnode,2,500,EUR\n")
    process = start(*SMALL, "--out", str(results), "--prices", str(prices), "--json")
    out, err = process.communicate()
    assert process.returncode == 0, err
    said = json.loads(out)
    first, second = read_results(results, say=print)
    slower = max((first, second), key=lambda run: run.measures["job_seconds"])
    (found,) = said["results"]
    assert said["disclaimer"] == found["disclaimer"] == NOT_TPC
    assert found["total_seconds"] == slower.measures["job_seconds"]
    assert found["hsph"] == pytest.approx(0.0001 * 3600 / found["total_seconds"])
    assert found["price_per_hsph"] == pytest.approx(1000 / found["hsph"], rel=0.005)
    for run in (first, second):
        assert list(run.phases) == [*PHASES, "unaccounted"]
        assert run.parameters["size_bytes"] == BYTES
        assert run.counts and run.validation is not None and run.validation.ok
        # Each phase is a job or a listing of its own: none can be free.
        assert all(run.phases[phase] > 0 for phase in PHASES)
    assert first.configuration_hash == second.configuration_hash
    assert first.validation == second.validation


def test_an_interrupted_run_is_no_result(tmp_path: Path) -> None:
    results, log = tmp_path / "hsph.jsonl", tmp_path / "log"
    mounts = mount_table()
    with log.open("w") as errors:
        process = start(*SMALL, "--out", str(results), errors=errors.fileno())

        def sorting_or_dead() -> bool:
            return "run 1: sort" in log.read_text() or process.poll() is not None

        poll(sorting_or_dead, bool, 300, "the first sort")
        assert process.poll() is None, log.read_text()
        seen = namespaces_below(process.pid)
        process.send_signal(signal.SIGINT)
        process.communicate()
    assert process.returncode == 130, log.read_text()
    assert results.read_bytes() == b""
    assert_nothing_left(LABS / "bench-hsph", seen, mounts)
