"""`vas bench run` as a user runs it: a small plan over three systems, killed and gone on from.

Times of so small a job on a machine that does other things say nothing: none is looked at.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vas_bench.results.record import BenchRun
from vas_bench.results.store import parse, read_results
from vas_bench.run.workloads import WORKLOADS
from vas_core.polling import poll
from vas_lab.state import is_running
from vas_tests.leftovers import assert_nothing_left, mount_table, namespaces_held

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(600)]

LABS = Path(__file__).parents[1] / "build" / "lab" / "test-bench-run"
BENCH = [sys.executable, "-m", "vas_core", "bench", "run"]
SYSTEMS = ["yarn-lustre", "yarn-lustre-hosts", "vas"]
PLAN: dict[str, Any] = {
    "name": "small",
    "workloads": "terasort",
    "systems": SYSTEMS,
    "parameters": {"size": "32M", "split": "16M", "reducers": 1, "hosts": 2},
    "rounds": 1,
    "warm_up": 0,
    "seed": 1,
}


def start(plan: Path, *options: str) -> subprocess.Popen[str]:
    """A session with labs of its own."""
    LABS.mkdir(parents=True, exist_ok=True)
    return subprocess.Popen(
        [*BENCH, str(plan), *options],
        env={**os.environ, "VAS_LABS": str(LABS)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(session: subprocess.Popen[str], status: int = 0) -> tuple[str, str]:
    """What it printed."""
    out, err = session.communicate()
    assert session.returncode == status, err
    return out, err


def written(plan: dict[str, Any], directory: Path) -> Path:
    """The plan as a file. JSON is YAML."""
    file = directory / f"{plan['name']}.yaml"
    file.write_text(json.dumps(plan))
    return file


@pytest.fixture(scope="module")
def killed_and_resumed(
    tmp_path_factory: pytest.TempPathFactory,
) -> tuple[Path, Path, list[BenchRun]]:
    """Results and report of a session killed after its first run; the runs before that."""
    directory = tmp_path_factory.mktemp("small")
    plan, results, report = written(PLAN, directory), directory / "r.jsonl", directory / "r.html"
    options = ("--out", str(results))
    mounts = mount_table()
    session = start(plan, *options)

    def runs() -> list[BenchRun]:
        return list(parse(results.read_bytes()).runs) if results.exists() else []

    def one_or_dead() -> bool:
        return bool(runs()) or session.poll() is not None

    poll(one_or_dead, bool, 300, "a run")
    assert session.poll() is None, session.communicate()[1]
    with namespaces_held(session.pid) as seen:
        session.send_signal(signal.SIGKILL)
        session.communicate()
        before = runs()
        again = start(plan, *options, "--resume", "--report", str(report), "--json")
        out, _ = ended(again)
        made = [each["id"] for each in json.loads(out)["made"]]
        assert made == [run.id for run in runs()[len(before) :]]
        assert made and before
        assert_nothing_left(LABS / "bench-run", seen, mounts)
    return results, report, before


def test_a_killed_session_loses_and_doubles_nothing(
    killed_and_resumed: tuple[Path, Path, list[BenchRun]],
) -> None:
    results, _, before = killed_and_resumed
    runs = read_results(results, say=print)
    assert runs[: len(before)] == tuple(before)
    assert all(run.counts for run in runs), [run.invalid for run in runs]
    assert sorted(run.system for run in runs) == sorted(SYSTEMS)


def test_runs_are_checked_measured_and_split_into_phases(
    killed_and_resumed: tuple[Path, Path, list[BenchRun]],
) -> None:
    runs = read_results(killed_and_resumed[0], say=print)
    assert len({run.validation.checksum for run in runs if run.validation}) == 1
    for run in runs:
        assert list(run.phases) == ["start", "map", "shuffle", "merge", "reduce", "unaccounted"]
        assert sum(run.phases.values()) == pytest.approx(run.measures["job_seconds"], abs=0.05)
        assert run.measures["containers_started"] == 1 + 2 + 1
        assert run.measures["network_received_bytes/vf0"] > 0
        assert run.measures["cpu_seconds"] > run.measures["task_cpu_seconds"] > 0
        assert run.measures["failed_reduces"] == 0
        assert sum(host.input_bytes for host in run.hosts.values()) == (32 << 20) // 100 * 100
    for run in runs:
        if run.system == "yarn-lustre":
            assert run.measures["data_local_maps"] == 0
        if run.system == "vas":
            assert run.measures["local_map_share"] == 1
            assert sum(host.data_local_maps for host in run.hosts.values()) == 2


def test_it_ends_with_a_report_that_carries_the_runs(
    killed_and_resumed: tuple[Path, Path, list[BenchRun]],
) -> None:
    results, report, _ = killed_and_resumed
    assert read_results(report, say=print) == read_results(results, say=print)


def test_a_file_with_runs_is_not_written_to_unasked(
    killed_and_resumed: tuple[Path, Path, list[BenchRun]], tmp_path: Path
) -> None:
    results, _, _ = killed_and_resumed
    before = results.read_bytes()
    _, err = ended(start(written(PLAN, tmp_path), "--out", str(results)), status=2)
    assert "give --resume to go on from them, or another --out" in err
    assert results.read_bytes() == before
    _, err = ended(start(written(PLAN, tmp_path), "--out", str(results), "--resume"))
    assert "0 runs, 0 INVALID" in err
    assert results.read_bytes() == before


@pytest.mark.nightly
@pytest.mark.timeout(3600)
def test_every_workload_runs_on_hdfs_and_on_vas_and_is_found_right(tmp_path: Path) -> None:
    plan = PLAN | {
        "name": "all",
        "workloads": list(WORKLOADS),
        "systems": ["yarn-hdfs", "vas"],
        "parameters": PLAN["parameters"] | {"reducers": 2, "codec": "lz4"},
        "drop_caches": False,
    }
    results = tmp_path / "all.jsonl"
    ended(start(written(plan, tmp_path), "--out", str(results)))
    runs = read_results(results, say=print)
    assert {run.workload for run in runs} == set(plan["workloads"])
    assert len(runs) == 2 * len(plan["workloads"])
    assert all(run.counts for run in runs), [run.invalid for run in runs]
    for run in runs:
        if (run.system, run.workload) == ("yarn-hdfs", "terasort"):
            local = sum(host.data_local_maps for host in run.hosts.values())
            assert run.measures["data_local_maps"] == local
            assert sum(host.input_bytes for host in run.hosts.values()) == (32 << 20) // 100 * 100
    assert not is_running(LABS / "bench-run")
