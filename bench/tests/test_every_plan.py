"""Resume, budget, INVALID runs and report, of every command that plays rounds."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from made_up_plans import PLANS, MadeUpPlan
from made_up_site import Recorded

from vas_affinity import commands as affinity_commands
from vas_bench import commands
from vas_bench.results.store import read_results
from vas_bench.results.systems import SYSTEMS
from vas_core.cli import run_command

pytestmark = pytest.mark.unhurried

READERS = {"bench compare", "bench report", "bench stats", "bench usl"}
WITHOUT_ROUNDS = {
    "affinity bench",
    "bench arrivals",
    "bench disk",
    "bench layout",
    "bench placement",
    "bench reproduction",
    "bench scale",
    "bench waits",
}


@pytest.fixture(params=PLANS)
def plan(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> MadeUpPlan:
    monkeypatch.setenv("VAS_LABS", str(tmp_path / "labs"))
    return PLANS[request.param](Recorded(), tmp_path, monkeypatch)


def test_every_benchmark_is_here_or_plays_no_rounds() -> None:
    groups = {"bench": commands._LATER, "affinity": affinity_commands._LATER}
    found = {
        f"{group} {name}"
        for group, later in groups.items()
        for name, late in later.items()
        if late.target.startswith("vas_bench.")
    }
    assert found == {*PLANS, *READERS, *WITHOUT_ROUNDS}


def test_an_interrupted_session_goes_on_and_what_is_done_is_not_run_again(plan: MadeUpPlan) -> None:
    plan.site.interrupted_at = 2
    assert plan.play() == 130
    (first,) = plan.kept()
    assert plan.play(further=True) == 0
    whole = plan.kept()
    assert whole[0] == first
    assert [run.invalid for run in whole] == [None] * (plan.runs + plan.again)
    assert len(plan.site.ran) == len(whole) + 1
    assert plan.play(further=True) == 0
    assert plan.kept() == whole
    assert len(plan.site.ran) == len(whole) + 1


def test_a_budget_begins_no_run_that_it_would_cut_off(
    plan: MadeUpPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.play("--budget", "1s")
    assert "go on by --resume" in capsys.readouterr().err
    assert plan.site.ran == []
    assert plan.kept() == ()
    assert plan.play("--budget", "10h", further=True) == 0
    assert len(plan.kept()) == plan.runs


def test_a_run_that_fails_is_invalid_is_said_and_is_made_again(
    plan: MadeUpPlan, capsys: pytest.CaptureFixture[str]
) -> None:
    plan.site.fails_at = 2
    status = plan.play()
    said = capsys.readouterr().err
    assert "INVALID: " in said and "it failed: no room" in said
    # A search goes on without the candidate that failed.
    assert status == (0 if "tune" in plan.words else 1)
    assert [run.invalid for run in plan.kept() if run.invalid] == ["it failed: no room"]
    assert plan.play(further=True) == 0
    assert len([run for run in plan.kept() if not run.invalid]) == plan.runs + plan.again


def test_its_file_becomes_a_report_that_carries_the_runs(plan: MadeUpPlan, tmp_path: Path) -> None:
    assert plan.play() == 0
    page = tmp_path / "page.html"
    assert run_command(["bench", "report", str(plan.file), "--out", str(page)]) == 0
    assert read_results(page, say=print) == plan.kept()
    text = html.unescape(page.read_text())
    assert all(SYSTEMS[run.system] in text for run in plan.kept())
