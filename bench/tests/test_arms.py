"""Arms in turns: the order, what is made of the runs, and how a session goes on and ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_up_site import RECORDED, Recorded

from vas_bench.arms import command
from vas_bench.arms.comparison import SystemComparison
from vas_bench.results.store import parse
from vas_bench.results.systems import NAME_OF, SYSTEM_OF
from vas_bench.run.comparison_plan import ComparisonPlan
from vas_bench.run.systems import sizes_of
from vas_core.cli import run_command
from vas_core.settings import read_yaml
from vas_yarn.jobs.terasort import TeraSortSizes


def test_the_data_are_cut_as_the_demos_are() -> None:
    plan = read_yaml(Path(command.__file__).with_name("arms.yaml"), ComparisonPlan)
    demo = TeraSortSizes.of(768 << 20, plan.hosts)
    found = plan.experiments("terasort", 768 << 20)
    assert {sizes_of(each) for each in found} == {demo}
    assert [each.system for each in found] == list(SYSTEM_OF.values())


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    site = Recorded()
    monkeypatch.setattr("vas_bench.run.conduct.planned_site", site.opened)
    monkeypatch.setattr("vas_bench.arms.command.build_of_plugins", lambda: "build")
    return site


def run(*words: str) -> int:
    chosen = ("--arm", "real hosts", "--arm", "VAS", "--arm", "VAS placement")
    return run_command(["bench", "arms", *chosen, "--hosts", "2", "--size", "64M", *words])


def found(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    assert run(*words, "--json") == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return document


def test_every_round_runs_every_arm_once_and_orders_differ(recorded: Recorded) -> None:
    assert run("--rounds", "8") == 0
    rounds = [tuple(recorded.ran[i : i + 3]) for i in range(0, 24, 3)]
    assert all(sorted(each) == sorted(RECORDED) for each in rounds)
    assert len(set(rounds)) > 1


def test_the_same_seed_draws_the_same_order(recorded: Recorded) -> None:
    assert run("--rounds", "4", "--seed", "7") == run("--rounds", "4", "--seed", "7") == 0
    assert recorded.ran[:12] == recorded.ran[12:]


def test_arms_are_compared_with_the_base(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "arms.jsonl"
    document = found(capsys, "--rounds", "5", "--resume", str(file))
    assert document["base"] == "real hosts"
    assert {row["arm"] for row in document["ratios"]} == {"VAS", "VAS placement"}
    times = {row["arm"]: row for row in document["ratios"] if row["measure"] == "job_seconds"}
    assert round(times["VAS"]["value"], 1) == 0.3
    samples = document["samples"]
    assert len(samples) == 15
    keys = ["arm", "round", "position", "total_maps", "checksum", "measures"]
    assert list(samples[0]) == keys
    assert (samples[0]["round"], samples[0]["position"], samples[0]["checksum"]) == (0, 0, "abc")
    assert [each["position"] for each in samples] == [0, 1, 2] * 5
    comparison = SystemComparison(parse(file.read_bytes()).runs, "yarn-lustre-hosts", NAME_OF)
    rows = list(comparison.rows())
    assert [row[0] for row in rows] == ["real hosts", "VAS", "VAS placement"]
    assert rows[0][:2] == ("real hosts", "20 of 20")
    assert rows[0][4] == "base"


def test_what_is_in_the_file_does_not_run_again(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "arms.jsonl"
    found(capsys, "--rounds", "2", "--resume", str(file))
    assert len(found(capsys, "--rounds", "3", "--resume", str(file))["samples"]) == 9
    assert len(recorded.ran) == 9
    assert run("--rounds", "3", "--resume", str(file), "--seed", "2") == 2
    assert "its runs had another seed" in capsys.readouterr().err


def test_a_run_that_fails_is_invalid_counted_nowhere_and_made_again(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "arms.jsonl"
    recorded.fails_at = 4
    assert run("--rounds", "3", "--resume", str(file), "--json") == 1
    out, err = capsys.readouterr()
    assert len(json.loads(out)["samples"]) == 8
    assert "1 run is INVALID; it failed: no room" in err
    assert len(found(capsys, "--rounds", "3", "--resume", str(file))["samples"]) == 9
    assert len(recorded.ran) == 10


def test_a_budget_begins_no_run_that_it_would_cut_off(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("--rounds", "3", "--budget", "1s") == 1
    err = capsys.readouterr().err
    assert "the budget ended with 9 runs left" in err and "no run was made" in err
    assert recorded.ran == []


def test_dry_run_tells_the_order_and_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "arms", "--rounds", "3", "--arm", "VAS", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:]
    assert sorted(line.strip() for line in lines) == [
        f"{number}  {arm}" for number in (1, 2, 3) for arm in ("VAS", "real hosts")
    ]
