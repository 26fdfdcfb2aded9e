"""The placement benchmark on the plugins' real jar."""

from __future__ import annotations

import json

import pytest

from vas_bench.placement.simulator import SimulatedJob, SimulatedPlacement, simulate
from vas_core.cli import run_command
from vas_core.process import CommandFailed
from vas_lab.spec import find_java
from vas_yarn.jars import find_plugins

pytestmark = pytest.mark.slow


def _simulate(job: SimulatedJob) -> SimulatedPlacement:
    return simulate(job, java=find_java() / "bin/java", plugins=find_plugins())


def test_places_every_split_and_nearly_all_on_their_host() -> None:
    result = _simulate(SimulatedJob(nodes=100, splits=4000))
    assert result.decisions == 4000
    assert result.data_local + result.partner_local + result.other == 4000
    assert result.data_local >= 0.98 * 4000


def test_a_wait_too_short_costs_locality() -> None:
    job = SimulatedJob(nodes=100, splits=4000)
    impatient = _simulate(SimulatedJob(nodes=100, splits=4000, node_wait_seconds=0))
    assert impatient.data_local < _simulate(job).data_local


def test_a_skewed_job_takes_little_longer_than_without_waiting() -> None:
    placed = _simulate(SimulatedJob(nodes=20, splits=400, skew=2))
    job = SimulatedJob(nodes=20, splits=400, skew=2, node_wait_seconds=0, partner_wait_seconds=0)
    free = _simulate(job)
    assert placed.simulated_seconds <= 1.5 * free.simulated_seconds


def test_the_command_prints_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "placement", "--nodes", "10", "--splits", "200", "--dead", "1", "--json"]
    words += ["--node-wait", "1", "--partner-wait", "0.5"]
    assert run_command(words) == 0
    assert json.loads(capsys.readouterr().out)["decisions"] == 200


def test_a_cluster_of_dead_nodes_is_refused() -> None:
    with pytest.raises(CommandFailed, match="at least one must be alive"):
        _simulate(SimulatedJob(nodes=2, splits=2, dead=2))
