"""When waiting for the host of the data pays, on the plugins' real jar."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from vas_bench.placement.simulator import Spread
from vas_bench.placement.waits import WaitCost, WaitJob, wait_costs
from vas_core.cli import run_command
from vas_core.errors import ExitStatus
from vas_lab.spec import find_java
from vas_yarn.jars import find_plugins

pytestmark = pytest.mark.slow


def _cost(extra: int, wait: float = 20, spread: Spread = "even") -> WaitCost:
    job = WaitJob(nodes=10, slots=4, waves=4, spread=spread)
    (cost,) = wait_costs(
        job, extra, [wait], seeds=2, java=find_java() / "bin/java", plugins=find_plugins()
    )
    return cost


def test_waiting_gains_time_where_a_remote_task_takes_twice_as_long() -> None:
    cost = _cost(100)
    assert cost.time_ratio < 1
    assert cost.local > 0.98


def test_waiting_costs_time_where_a_remote_task_is_as_fast() -> None:
    assert 1 <= _cost(0).time_ratio < 1.5


def test_waiting_costs_time_where_few_nodes_have_all_splits() -> None:
    cost = _cost(0, spread="few")
    assert cost.time_ratio > 1
    assert cost.local < 0.5


def test_no_wait_is_what_it_is_compared_with() -> None:
    assert _cost(50, wait=0, spread="random").time_ratio == 1


def test_the_command_has_a_row_for_each_job_cost_and_wait(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "waits.svg"
    words = ["bench", "waits", "--nodes", "4", "--waves", "1", "--spread", "even", "--seeds", "1"]
    words += ["--remote-extra", "0", "--remote-extra", "50", "--node-wait", "5"]
    assert run_command([*words, "--svg", str(picture), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["remote_extra_percent"], row["node_wait_seconds"]) for row in rows] == [
        (0, 5),
        (50, 5),
    ]
    ElementTree.parse(picture)
    assert run_command(words) == 0
    assert "4 x 4, waves 1, even" in capsys.readouterr().out


def test_a_picture_of_one_cost_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "waits", "--remote-extra", "10", "--svg", str(tmp_path / "one.svg")]
    assert run_command(words) == ExitStatus.BAD_INPUT
    assert "repeat --remote-extra" in capsys.readouterr().err
