"""The shuffle's table: arithmetic, goals, what makes a row invalid, and runs that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from vas_bench.arms.rounds import MEASURES, Sample
from vas_bench.shuffle.counted import FileCount, file_row
from vas_bench.shuffle.goals import GOALS, STOCK, TEZ, VAS, Goal
from vas_bench.shuffle.pairs import write_pairs
from vas_bench.shuffle.rows import COLUMNS, Row, SampledRun, judged, rows
from vas_bench.shuffle.session import Kept, Plan, play_round
from vas_core.cli import run_command
from vas_core.errors import BadInput, VasError
from vas_core.progress import Steps
from vas_lab.arms import Arm
from vas_lab.job import Counters, JobResult

JOB_TIME = "TeraSort: job time / stock's"
WRITTEN = "TeraSort: intermediate bytes written / map output bytes"
SPILLED = "TeraSort: records spilled on the reduce side"


def goal(name: str) -> Goal:
    return next(each for each in GOALS if each.name == name)


def run(arm: str, number: int = 0, *, job: str = "terasort", **changed: Any) -> SampledRun:
    """A run with every measure 100, but for those that are given."""
    measures = dict.fromkeys(MEASURES, 100.0) | changed
    return SampledRun(job, arm, number, Sample(arm, number, 0, 8, "sum", measures))


def terasort(rounds: int = 5, *, stock: float = 100.0, vas: float = 40.0) -> list[SampledRun]:
    """Rounds of a TeraSort that takes so many seconds, and a second more in each round."""
    seconds = {STOCK: stock, VAS: vas, TEZ: 80.0}
    return [run(arm, n, client_seconds=s + n) for n in range(rounds) for arm, s in seconds.items()]


def found(runs: list[SampledRun]) -> dict[str, Row]:
    return {row.name: row for row in rows(GOALS, judged(runs))}


def test_the_goals_are_those_that_were_set() -> None:
    assert {each.name: each.limit for each in GOALS} == {
        "TeraSort: job time / stock's": 0.50,
        "TeraSort: job time / Tez's": 0.65,
        "TeraSort: all CPU / Tez's": 0.65,
        "TeraSort: all CPU / stock's": 0.45,
        "TeraSort: task CPU without start-up / stock's": 0.30,
        "TeraSort: intermediate bytes written / map output bytes": 1.06,
        "TeraSort: intermediate bytes read and written / stock's": 0.40,
        "TeraSort: the same without HTTP / stock's": None,
        "TeraSort: records spilled on the reduce side": 0,
        "SecondarySort: job time / stock's": 0.70,
        "Sort: job time / stock's": 0.70,
        "WordCount with combiner: job time / stock's": 0.95,
        "1 map, 10 MB: job time / stock's": 1.05,
    }


def test_a_ratio_of_medians_its_interval_and_its_goal() -> None:
    row = found(terasort())[JOB_TIME]
    assert row.value == pytest.approx(42 / 102)
    assert row.interval is not None
    assert row.interval[0] < row.value < row.interval[1]
    assert (row.n, row.goal, row.met) == (5, 0.50, True)
    assert row.p is not None and row.p < 0.05


def test_a_goal_that_is_missed_by_a_little_is_missed() -> None:
    assert found(terasort(vas=52.0))[JOB_TIME].met is False


def test_a_value_at_its_limit_has_met_it() -> None:
    runs = [run(STOCK, client_seconds=100.0), run(VAS, client_seconds=50.0)]
    assert found(runs)[JOB_TIME].met is True


def test_bytes_written_are_a_share_of_the_same_run() -> None:
    runs = [
        made
        for n, written in enumerate((103.0, 104.0, 105.0))
        for made in (run(STOCK, n), run(VAS, n, written_bytes=written))
    ]
    row = found(runs)[WRITTEN]
    assert (row.value, row.n, row.met, row.p) == (1.04, 3, True, None)


def test_one_run_that_spilled_is_enough_to_miss() -> None:
    runs = [run(STOCK, n) for n in range(3)]
    runs += [run(VAS, n, reduce_spilled_records=float(n == 1)) for n in range(3)]
    row = found(runs)[SPILLED]
    assert (row.value, row.interval, row.met) == (1, (0, 1), False)


def test_rows_of_arms_that_did_not_run_are_left_out() -> None:
    without_tez = [each for each in terasort() if each.arm != TEZ]
    names = set(found(without_tez))
    assert JOB_TIME in names
    assert not any("Tez" in name for name in names)
    assert all(name.startswith("TeraSort") for name in names)


def test_json_has_the_keys_that_were_promised() -> None:
    row = found(terasort())[JOB_TIME].as_json()
    assert list(row) == ["name", "value", "interval", "n", "goal", "met", "p"]
    assert json.loads(json.dumps(row)) == row


def test_another_output_than_stocks_makes_its_rows_invalid() -> None:
    runs = terasort()
    bad = Sample(VAS, 3, 0, 8, "other", dict.fromkeys(MEASURES, 1.0))
    runs[runs.index(next(r for r in runs if r.arm == VAS and r.round == 3))] = SampledRun(
        "terasort", VAS, 3, bad
    )
    table = found(runs)
    row = table[JOB_TIME].as_json()
    assert (row["value"], row["interval"], row["n"], row["met"]) == (None, None, 4, False)
    assert row["invalid"] == "VAS, round 4: its output is other, stock's sum"
    assert all(each.invalid for each in table.values())
    assert len(table[JOB_TIME].as_cells()) == len(COLUMNS)


def test_what_is_wrong_with_tez_leaves_the_rows_without_it() -> None:
    runs = [
        SampledRun("terasort", TEZ, 0, None, "it hung") if r.arm == TEZ else r for r in terasort()
    ]
    table = found(runs)
    assert table["TeraSort: all CPU / Tez's"].invalid == "Tez, round 1: it hung"
    assert not table[JOB_TIME].invalid


def test_without_stocks_output_nothing_is_known_to_be_right() -> None:
    runs = [SampledRun("terasort", STOCK, 0, None, "killed"), run(VAS)]
    table = found(runs)
    assert table[SPILLED].invalid
    assert table[SPILLED].met is False
    assert table["TeraSort: the same without HTTP / stock's"].met is None


_STOCK_COUNTERS: Counters = {
    "fs": {"FILE_BYTES_WRITTEN": 200, "FILE_BYTES_READ": 100, "LUSTRE_BYTES_READ": 90},
    "task": {"REDUCE_SHUFFLE_BYTES": 100, "MAP_OUTPUT_BYTES": 98, "SPILLED_RECORDS": 20},
}
_VAS_COUNTERS: Counters = {
    "fs": {"LUSTRE_BYTES_WRITTEN": 190, "LUSTRE_BYTES_READ": 191},
    "task": {"REDUCE_SHUFFLE_BYTES": 100, "MAP_OUTPUT_BYTES": 98, "SPILLED_RECORDS": 10},
    "VAS shuffle": {"MOFS_OPENED": 4},
}


def measured(counters: Counters, of_maps: Counters) -> dict[str, float]:
    job = JobResult(
        application_id="application_1_1",
        job_id="job_1_1",
        state="SUCCEEDED",
        seconds=1,
        client_seconds=1,
        wall_seconds=1,
        cpu_seconds=1,
        counters=counters,
        map_counters=of_maps,
    )
    return {name: measure(job) for name, measure in MEASURES.items()}


def test_stocks_bytes_are_those_on_disks_and_those_by_http() -> None:
    of_maps = {"fs": {"LUSTRE_BYTES_READ": 90}, "task": {"SPILLED_RECORDS": 10}}
    it = measured(_STOCK_COUNTERS, of_maps)
    assert it["written_bytes"] == 200
    assert it["stored_bytes"] == 200 + 100 + 100  # written; read by reducers, by NodeManagers
    assert it["moved_bytes"] == 400 + 2 * 100  # and sent, and received
    assert it["reduce_spilled_records"] == 10


def test_ours_are_those_of_maps_on_lustre_and_what_reducers_read_there() -> None:
    of_maps = {
        "fs": {"LUSTRE_BYTES_WRITTEN": 100, "LUSTRE_BYTES_READ": 90},
        "task": {"SPILLED_RECORDS": 10},
    }
    it = measured(_VAS_COUNTERS, of_maps)
    assert it["written_bytes"] == 100
    assert it["stored_bytes"] == it["moved_bytes"] == 201
    assert it["reduce_spilled_records"] == 0


def test_files_are_told_per_map_attempt() -> None:
    packed = file_row("packed", FileCount(maps=1000, files=2000, counted=2000))
    assert (packed.value, packed.goal, packed.met) == (2, 2, True)
    assert file_row("packed", FileCount(maps=10, files=21, counted=21)).met is False
    one_each = file_row("per-reducer", FileCount(maps=1000, files=201000, counted=201000))
    assert (one_each.value, one_each.goal, one_each.met) == (201, None, None)


def test_files_that_no_counter_names_make_the_row_invalid() -> None:
    row = file_row("packed", FileCount(maps=10, files=30, counted=20))
    assert row.invalid == "30 files on the disk, 20 in the counters"
    assert row.met is False


PLAN = Plan(64 << 20, 2, 1, ("terasort",), with_tez=True)


def test_runs_are_kept_and_a_round_that_lacks_an_arm_is_not(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    kept = Kept(PLAN, file)
    for each in (*terasort(1), run(STOCK, 1), SampledRun("sort", VAS, 0, None, "bad")):
        kept.add(each)
    again = Kept(PLAN, file)
    assert again.has("terasort", 0)
    assert not again.has("terasort", 1)
    assert again.runs == [*terasort(1), SampledRun("sort", VAS, 0, None, "bad")]


def test_runs_of_another_setting_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    Kept(PLAN, file).add(run(STOCK))
    with pytest.raises(BadInput, match="size_bytes"):
        Kept(Plan(1 << 20, 2, 1, ("terasort",), with_tez=True), file)
    with pytest.raises(BadInput, match="build"):
        Kept(Plan(64 << 20, 2, 1, ("terasort",), with_tez=True, build="x"), file)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"settings": {}, "runs": [{"job": 1}]}'])
def test_a_file_that_holds_no_runs_is_named(tmp_path: Path, text: str) -> None:
    file = tmp_path / "runs.json"
    file.write_text(text)
    with pytest.raises(BadInput, match=str(file)):
        raise AssertionError(Kept(PLAN, file).runs)


class Bad:
    """A job whose output is never right."""

    def generate(self) -> None:
        """Nothing to make."""

    def run(self, _: Arm) -> JobResult:
        raise AssertionError("not reached")

    def validate(self, _: Arm) -> str:
        raise AssertionError("not reached")


class Lost(Bad):
    def run(self, _: Arm) -> JobResult:
        raise VasError("rows were lost")


def test_a_run_that_fails_is_told_and_the_round_goes_on(tmp_path: Path) -> None:
    order = [Arm(VAS, "", {}), Arm(STOCK, "", {}), Arm(TEZ, "", {})]
    with Steps.show(PLAN.steps(), tmp_path / "seconds.json") as progress:
        runs = list(play_round("terasort", Lost(), 0, order, progress))
    assert [(r.arm, r.sample, r.wrong) for r in runs] == [
        (arm.name, None, "rows were lost") for arm in order
    ]


def test_pairs_are_the_same_for_the_same_seed(tmp_path: Path) -> None:
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        write_pairs(tmp_path / name, 100, seed)
    texts = [(tmp_path / name).read_text() for name in "abc"]
    assert texts[0] == texts[1] != texts[2]
    first, second = texts[0].splitlines()[0].split()
    assert 0 <= int(first) < 1 << 16 and 0 <= int(second) < 1 << 31


def test_dry_run_tells_the_steps_and_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "shuffle", "--rounds", "1", "--rows", "terasort", "--rows", "files"]
    assert run_command([*words, "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert "TeraSort, round 1: Tez" in out
    assert "files, per-reducer" in out
    assert "Apache Tez 0." in err
