"""Every workload on Apache Tez, in a lab: it runs, its output is right, it is measured."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from statistics import fmean
from typing import get_args

import pytest

from vas_bench.results.store import read_results
from vas_bench.run.plan import WorkloadName
from vas_bench.run.workloads import WORKLOADS
from vas_core.process import run

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.nightly, pytest.mark.timeout(2400)]

LABS = Path(__file__).parents[1] / "build" / "lab" / "test-bench-on-tez"


def test_every_workload_runs_on_tez_and_is_found_right(tmp_path: Path) -> None:
    LABS.mkdir(parents=True, exist_ok=True)
    plan, results = tmp_path / "tez.yaml", tmp_path / "r.jsonl"
    parameters = {"size": "32M", "split": "16M", "reducers": 2, "hosts": 2}
    asked = {
        "name": "tez",
        "workloads": list(get_args(WorkloadName)),
        "systems": "tez",
        "parameters": parameters,
        "rounds": 1,
        "warm_up": 0,
        "drop_caches": False,
    }
    plan.write_text(json.dumps(asked))
    argv = [sys.executable, "-m", "vas_core", "bench", "run", str(plan), "--out", str(results)]
    run(argv, env={**os.environ, "VAS_LABS": str(LABS)})
    runs = {each.workload: each for each in read_results(results, say=print)}
    assert set(runs) == set(get_args(WorkloadName))
    assert {name: each.invalid for name, each in runs.items() if each.invalid} == {}
    for name, each in runs.items():
        maps = each.measures["total_maps"]
        assert maps >= 1, name
        # The application master's, and no more than one for each task.
        assert 2 <= each.measures["containers_started"] <= 1 + maps + 2 * 2, name
        assert next(iter(each.phases)) == "start"
        assert sum(each.phases.values()) == pytest.approx(each.measures["job_seconds"], abs=0.05)
    # A map that runs where its split lies counts its local bytes. Where a map runs Tez's own
    # scheduler decides: once it gave each of two maps the other one's host.
    with_splits = [runs[name].measures for name in runs if WORKLOADS[name].has_splits]
    local = [measures["data_local_maps"] / measures["total_maps"] for measures in with_splits]
    for share, measures in zip(local, with_splits, strict=True):
        assert measures["local_byte_share"] >= share - 0.1, measures
    assert fmean(local) > 0.5, local
