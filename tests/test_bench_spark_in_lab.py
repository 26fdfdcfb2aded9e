"""`vas bench spark` in a lab: each workload once on each system, with little data."""

from __future__ import annotations

import pytest

from vas_bench.results.record import BenchRun
from vas_bench.results.store import content_of
from vas_bench.spark.subjects import KILLED, OWN, SERVICE, SORT, VAS, WORKLOADS, subjects
from vas_core.cli import run_command

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(1800),
]
_SIZE = 128 << 20


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], BenchRun]:
    """The run of each workload on each system: right, as the command has found."""
    file = tmp_path_factory.mktemp("spark") / "runs.jsonl"
    argv = ["bench", "spark", "--rounds", "1", "--size", "128M", "--resume", str(file)]
    assert run_command(argv) == 0
    return {(run.workload, run.system): run for run in content_of(file).runs}


def test_every_workload_ran_on_its_systems(runs: dict[tuple[str, str], BenchRun]) -> None:
    jobs = subjects(WORKLOADS, _SIZE, 4)
    assert set(runs) == {(it.workload, it.system) for each in jobs.values() for it in each}
    for kind in (SORT, KILLED):
        found = {run.validation for key, run in runs.items() if key[0] == f"spark-{kind}"}
        assert len({it.checksum for it in found if it}) == 1


def test_a_map_task_has_two_files_on_lustre(runs: dict[tuple[str, str], BenchRun]) -> None:
    files = {key: run.measures["files_per_map"] for key, run in runs.items()}
    assert {n for (_, system), n in files.items() if system == VAS} == {2}
    # Spark's own has a file of checksums too, on the node's disk.
    assert {n for (_, system), n in files.items() if system != VAS} == {3}


def test_a_kill_runs_a_stage_again_where_nobody_kept_its_output(
    runs: dict[tuple[str, str], BenchRun],
) -> None:
    again = {it: runs[f"spark-{KILLED}", it].measures["tasks_again"] for it in (OWN, SERVICE, VAS)}
    assert again[OWN] > 0
    assert (again[SERVICE], again[VAS]) == (0, 0)


def test_requests_of_map_output_are_counted(runs: dict[tuple[str, str], BenchRun]) -> None:
    ours, service = (runs[f"spark-{SORT}", it].measures for it in (VAS, SERVICE))
    kinds = {name for name in ours if name.startswith("file_system_requests/")}
    assert sum(ours[kind] for kind in kinds) == ours["file_system_requests"]
    assert ours["file_system_requests/opens"] > service["file_system_requests/opens"] > 0
