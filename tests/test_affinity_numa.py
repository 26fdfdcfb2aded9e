"""Placing interrupts and a thread on a machine with two NUMA nodes and real queues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from vas_tests.numa import machine

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.skipif(bool(machine.missing()), reason=f"missing: {', '.join(machine.missing())}"),
    pytest.mark.timeout(900),
]
_SECONDS = 840.0


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    result = machine.run_inside(Path(tmp_path_factory.mktemp("numa")), _SECONDS)
    assert "failed" not in result, result["failed"]
    return result


def test_disk_and_nic_are_on_the_second_of_two_nodes(found: dict[str, Any]) -> None:
    assert found["online"] == "0-15"
    assert found["nodes"] == {"node0": "0-7", "node1": "8-15"}
    assert (found["disk_node"], found["nic_node"]) == ("1", "1")


def test_a_queue_of_the_disk_is_immovable_and_the_thread_moves_to_it(
    found: dict[str, Any],
) -> None:
    disk, nic, thread = found["apply"]
    assert disk["verdict"] == "immovable"
    assert disk["why"].startswith("the kernel manages this interrupt's CPUs")
    assert (nic["verdict"], found["nic"]) == ("changed", "9")
    assert (thread["verdict"], found["worker"]) == ("changed", [found["near"]])
    verdicts = [row["verdict"] for row in found["verify"]]
    assert verdicts == ["immovable", "as desired", "as desired"]


def test_after_a_link_up_the_nics_interrupt_is_put_back(found: dict[str, Any]) -> None:
    nic = found["again"][1]
    assert nic["now"] == "9"
    assert nic["verdict"] == ("as desired" if found["nic_after_link_up"] == "9" else "changed")


def test_everything_is_given_back(found: dict[str, Any]) -> None:
    assert {row["verdict"] for row in found["rollback"]} == {"restored"}
    assert found["worker_after"] == list(range(16))
    assert found["nic_after"] == found["apply"][1]["before"]


@pytest.mark.nightly
def test_the_experiment_runs_inside(tmp_path: Path) -> None:
    """Emulated CPUs have no caches to be near to: what pinning gains there is not looked at.

    What it does is: of four stages, on CPUs 0, 4, 8 and 12, two hand their messages to the other
    node, and none changes its CPU.
    """
    result = machine.run_inside(tmp_path, _SECONDS, experiment="--runs 3 --seconds 0.5 --stages 4")
    assert result["cpus"] == 16
    arms = {run["arm"] for run in result["runs"]}
    assert {"untuned, unpinned", "untuned, pinned"} <= arms
    assert len(result["runs"]) == 3 * len(arms)
    assert all(run["value"] > 0 for run in result["runs"])
    pinned = [run for run in result["runs"] if "unpinned" not in run["arm"]]
    assert {run["migrations_per_second"] for run in pinned} == {0}
    for run in pinned:
        # A message is under way at either end of a run.
        assert run["cross_node_share"] == pytest.approx(0.5, abs=0.05)
