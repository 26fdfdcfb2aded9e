"""The experiment: its order, its statistics, its settings, and a short real run."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from vas_bench.engine.rounds import draw_rounds
from vas_bench.pinning import tuning
from vas_bench.pinning.conduct import PinningResult, identity
from vas_bench.pinning.design import (
    BASE,
    PinningAnswer,
    PinningArm,
    arms,
    contrast,
    corrected,
    questions,
    spread,
)
from vas_bench.pinning.figure import draw_arms
from vas_bench.pinning.workload import Pipeline, kept_on, last_number
from vas_bench.results.record import BenchRun, make_run
from vas_bench.statistics.summary import summary
from vas_core.cli import run_command
from vas_core.errors import VasError
from vas_core.root import Root

# Table 2 of the thread manager's paper: operations per second, five runs each.
UNPINNED = (4656.73, 3822.06, 3654.58, 3797.29, 4005.85)
SIBLINGS_OFF = (4165.00, 3991.67, 4883.58, 4174.46, 4611.72)
PINNED = (6540.39, 6664.53, 6617.48, 6619.01, 6541.12)

SAMPLES = st.lists(st.floats(1, 1e6), min_size=3, max_size=20).filter(lambda v: np.var(v) > 1e-6)


def test_the_papers_gain_without_siblings_is_none() -> None:
    values = {"on": UNPINNED, "off": SIBLINGS_OFF}
    test = contrast("off", values, {"off": 1, "on": -1}, summary(UNPINNED).mean)
    assert test.effect == pytest.approx(9.48, abs=0.01)
    assert test.p == pytest.approx(0.157, abs=0.001)


def test_the_papers_pinning_gains_and_cuts_the_spread() -> None:
    values = {"free": UNPINNED, "pinned": PINNED}
    test = contrast("x", values, {"pinned": 1, "free": -1}, summary(UNPINNED).mean)
    assert test.effect == pytest.approx(65.4, abs=0.1)
    assert test.p < 2e-4
    assert spread("x", UNPINNED, PINNED).effect < 0.15


@pytest.mark.unhurried
@given(SAMPLES, SAMPLES)
def test_two_means_are_welchs_test(one: list[float], other: list[float]) -> None:
    test = contrast("x", {"a": one, "b": other}, {"b": 1, "a": -1}, 100.0)
    expected = stats.ttest_ind(other, one, equal_var=False)
    interval = expected.confidence_interval()
    assert test.p == pytest.approx(float(expected.pvalue), rel=1e-6, abs=1e-12)
    assert test.low == pytest.approx(float(interval.low), rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
def test_holms_correction_never_helps_and_keeps_order(found: list[float]) -> None:
    tests = corrected([PinningAnswer("x", "%", 1.0, None, None, p) for p in found])
    assert all(test.p <= test.p_holm <= 1 for test in tests)
    ordered = sorted(tests, key=lambda test: test.p)
    assert [t.p_holm for t in ordered] == sorted(t.p_holm for t in tests)
    assert min(t.p_holm for t in tests) == min(1.0, min(found) * len(found))


def test_runs_that_are_all_equal_differ_not() -> None:
    same = {arm.name: [5.0, 5.0, 5.0] for arm in arms(tuning=True)}
    assert not any(test.significant(0.05) for test in questions(same))


@given(st.integers(1, 30), st.integers())
def test_each_round_has_each_arm_once(runs: int, seed: int) -> None:
    of = [identity(arm, "x", {}) for arm in arms(tuning=True)]
    drawn = draw_rounds(of, rounds=runs, seed=seed)
    assert drawn == draw_rounds(of, rounds=runs, seed=seed)
    plan = [each.experiment.arm for each in drawn]
    rounds = [plan[at : at + 4] for at in range(0, len(plan), 4)]
    assert all(Counter(one) == Counter(arms(tuning=True)) for one in rounds)


def test_the_interaction_is_what_pinning_gains_more_when_tuned() -> None:
    noise = np.linspace(-1, 1, 9)
    levels = {
        (False, False): 100.0,
        (False, True): 110.0,
        (True, False): 120.0,
        (True, True): 160.0,
    }
    values = {PinningArm(*key).name: list(level + noise) for key, level in levels.items()}
    found = {test.question: test for test in questions(values)}
    crossed = found["interaction: does pinning gain more when tuned"]
    assert crossed.effect == pytest.approx(30.0)
    assert crossed.significant(0.05)
    assert not found["variance: tuning, unpinned"].significant(0.05)


def test_without_the_factor_two_arms_are_left() -> None:
    left = arms(tuning=False)
    assert left == [BASE, PinningArm(tuned=False, pinned=True)]
    values = {arm.name: [1.0, 2.0, 3.0] for arm in left}
    assert [test.question for test in questions(values)] == [
        "mean: pinning, untuned",
        "variance: pinning, untuned",
    ]


@pytest.mark.parametrize("runs", [1, 2])
def test_too_few_runs_are_tested_for_nothing(runs: int) -> None:
    values = [1.0, 3.0][:runs]
    assert questions({arm.name: values for arm in arms(tuning=True)}) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [((1.0, 2.0), (5.0, 5.1)), ((1.0, 1.0, 3.0, 3.0), (7.1, 7.1, 7.3, 7.3))],
)
def test_deviations_without_a_spread_say_nothing(
    before: tuple[float, ...], after: tuple[float, ...]
) -> None:
    found = spread("x", before, after)
    assert (found.p, found.effect != 1) == (1.0, True)


@pytest.mark.machine
def test_two_runs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["affinity", "experiment", "--runs", "2", "--dry-run"]) == 2
    assert "is not at least 3" in capsys.readouterr().err


@given(st.integers(2, 60), st.integers(1, 8))
def test_stages_are_pinned_evenly_and_neighbours_together(stages: int, cpus: int) -> None:
    work = Pipeline(Path("x"), tuple(range(cpus)), stages, 1.0, "pipe", 1, 1)
    places = work.places()
    assert len(places) == stages
    assert places == sorted(places)
    used = Counter(places)
    assert max(used.values()) - min(used[cpu] for cpu in range(min(cpus, stages))) <= 1


@pytest.mark.parametrize(("out", "value"), [("3.5\n", 3.5), ("hello\n7\n\n", 7.0)])
def test_the_last_line_is_the_metric(out: str, value: float) -> None:
    assert last_number(["x"], out) == value


@pytest.mark.parametrize("out", ["", "12 MB/s\n", "nan\n", "inf\n"])
def test_what_is_no_metric_is_named(out: str) -> None:
    with pytest.raises(VasError, match="bench: the last line of its output is not a number"):
        last_number(["bench"], out)


def made_up(arm: PinningArm, number: int, value: float) -> BenchRun:
    measures = {"work_rate": value, "wall_seconds": 1.0, "others_cpus": 0.5, "stolen_cpus": 0.0}
    return make_run(
        id=str(number),
        time="2026-01-01T00:00:00Z",
        workload="pinning",
        system=arm.name,
        round=number // 4 + 1,
        measures=measures,
    )


def test_the_figure_shows_each_run() -> None:
    runs = tuple(made_up(arm, n, 100.0 + n) for n, arm in enumerate(arms(tuning=True) * 3))
    result = PinningResult("ring", "messages/s", "x", 1, 2, "6.1", runs)
    document = draw_arms(result).document("x")
    assert document.count("<circle") == 12
    assert result.others_cpus == 0.5


@pytest.mark.machine
def test_the_setting_is_put_back() -> None:
    if reason := tuning.why_not(Root()):
        assert "cpu_dma_latency" in reason
        return
    before = tuning.latency_microseconds(Root())
    with tuning.tuned(Root()):
        assert tuning.latency_microseconds(Root()) == 0
    assert tuning.latency_microseconds(Root()) == before


def test_a_setting_that_is_not_there_is_said(tmp_path: Path) -> None:
    assert tuning.why_not(Root(tmp_path)) == "/dev/cpu_dma_latency: No such file or directory"


@pytest.mark.machine
def test_what_is_started_inherits_the_cpus_and_we_keep_ours() -> None:
    before = os.sched_getaffinity(0)
    with kept_on([min(before)]):
        assert os.sched_getaffinity(0) == {min(before)}
    assert os.sched_getaffinity(0) == before


@pytest.mark.machine
def test_a_command_is_told_its_arm(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, picture = tmp_path / "e.json", tmp_path / "e.svg"
    code = "import os; print(10 * int(os.environ['VAS_PINNED']) + len(os.sched_getaffinity(0)))"
    one = str(min(os.sched_getaffinity(0)))
    words = [
        "experiment",
        "--runs",
        "3",
        "--cpus",
        one,
        "--out",
        str(out),
        "--picture",
        str(picture),
    ]
    assert run_command(["affinity", *words, "--", sys.executable, "-c", code]) == 0
    found = json.loads(out.read_text())
    for run in found["runs"]:
        allowed = len(os.sched_getaffinity(0))
        assert run["value"] == (allowed if "unpinned" in run["arm"] else 11)
    assert picture.read_text().startswith("<svg")
    assert "mean: pinning, untuned" in capsys.readouterr().out


@pytest.mark.unhurried
@pytest.mark.machine
@pytest.mark.parametrize("transport", ["pipe", "futex"])
def test_the_pipeline_runs(transport: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["experiment", "--runs", "3", "--seconds", "0.3", "--transport", transport, "--json"]
    assert run_command(["affinity", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert sum(run["value"] for run in found["runs"]) > 0
    assert {"mean", "sd", "relative_sd"} <= set(found["arms"][BASE.name])
    for run in found["runs"]:
        assert 0 <= run["cross_node_share"] <= 1
        assert run["migrations_per_second"] == 0 or "unpinned" in run["arm"]
    assert set(found["counts"]) == set(found["arms"])


@pytest.mark.machine
def test_a_dry_run_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    words = [
        "experiment",
        "--runs",
        "3",
        "--dry-run",
        "--",
        sys.executable,
        "-c",
        "raise SystemExit(1)",
    ]
    assert run_command(["affinity", *words]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("untuned, unpinned") == 3


@pytest.mark.machine
def test_a_dry_run_refuses_a_program_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["affinity", "experiment", "--dry-run", "--", "/no/such"]) == 77
    assert "no program /no/such" in capsys.readouterr().err


def experiment(tmp_path: Path, code: str, *words: str) -> int:
    """Runs an experiment of three rounds with a command of Python; JSON on stdout."""
    program = tmp_path / "program.py"
    program.write_text(code)
    argv = ["affinity", "experiment", "--runs", "3", "--json", *words]
    return run_command([*argv, "--", sys.executable, str(program)])


@pytest.mark.machine
def test_what_is_in_the_file_is_not_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, page = str(tmp_path / "runs.jsonl"), tmp_path / "page.html"
    assert experiment(tmp_path, "import time; print(time.time())", "--resume", file) == 0
    first = json.loads(capsys.readouterr().out)
    assert experiment(tmp_path, "import time; print(time.time())", "--resume", file) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == first["runs"]
    assert experiment(tmp_path, "print(1)", "--resume", file, "--seed", "2") == 2
    assert "its runs had another seed" in capsys.readouterr().err
    assert run_command(["bench", "report", file, "--out", str(page)]) == 0
    assert "idle CPUs may sleep" in page.read_text()


@pytest.mark.unhurried
@pytest.mark.machine
def test_a_run_that_fails_is_invalid_and_is_made_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once = tmp_path / "failed"
    code = f"""
import pathlib, sys
file = pathlib.Path({str(once)!r})
if not file.exists():
    file.touch()
    sys.exit("no room")
print(7)
"""
    file = str(tmp_path / "runs.jsonl")
    assert experiment(tmp_path, code, "--resume", file) == 1
    out, err = capsys.readouterr()
    count = len(json.loads(out)["runs"])
    assert "1 run is INVALID" in err and "no room" in err
    assert experiment(tmp_path, code, "--resume", file) == 0
    assert len(json.loads(capsys.readouterr().out)["runs"]) == count + 1


@pytest.mark.machine
def test_a_budget_begins_no_run_that_it_would_cut_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert experiment(tmp_path, "print(7)", "--budget", "1s", "--seconds", "60") == 1
    err = capsys.readouterr().err
    assert "runs left" in err and "no run was made" in err
