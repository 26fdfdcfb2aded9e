"""The shuffle's table: arithmetic, goals, what makes a row invalid, and runs that are kept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_up_site import Recorded

from vas_bench.results.record import BenchRun, make_run
from vas_bench.results.store import RunStore
from vas_bench.run.comparison_plan import ComparisonPlan
from vas_bench.run.measures import COMPARED
from vas_bench.run.pairs import write_pairs
from vas_bench.shuffle import command
from vas_bench.shuffle.counted import FileCount, file_row
from vas_bench.shuffle.goals import COLUMNS, STOCK, VAS, GoalRow, read_goals, rows
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.settings import read_yaml
from vas_yarn.jobs.job import Counters, JobResult
from vas_yarn.jobs.systems import System
from vas_yarn.profiles import SHUFFLE

TEZ: System = "tez"
PLAN = read_yaml(Path(command.__file__).with_name("shuffle.yaml"), ComparisonPlan)
JOB_TIME = "TeraSort: job time / stock's"
WRITTEN = "TeraSort: intermediate bytes written / map output bytes"
SPILLED = "TeraSort: records spilled on the reduce side"


def run(system: System, number: int = 1, *, checksum: str = "sum", **changed: Any) -> BenchRun:
    """A run with every measure 100, but for those that are given; INVALID if that is said."""
    wrong = changed.pop("invalid", None)
    return make_run(
        id=f"{system}-{number}",
        time="2026-01-01T00:00:00Z",
        workload="terasort",
        system=system,
        round=number,
        invalid=wrong,
        measures={} if wrong else dict.fromkeys(COMPARED, 100.0) | changed,
        validation=None if wrong else {"ok": True, "checksum": checksum},
    )


def terasort(rounds: int = 5, *, stock: float = 100.0, vas: float = 30.0) -> list[BenchRun]:
    """Rounds of a TeraSort that takes so many seconds, and a second more in each round."""
    seconds: dict[System, float] = {STOCK: stock, VAS: vas, TEZ: 80.0}
    return [
        run(system, n + 1, client_seconds=s + n)
        for n in range(rounds)
        for system, s in seconds.items()
    ]


def found(runs: list[BenchRun]) -> dict[str, GoalRow]:
    return {row.name: row for row in rows("TeraSort", read_goals(command.GOALS)["terasort"], runs)}


def test_the_goals_are_those_that_were_set() -> None:
    limits = {
        f"{PLAN.jobs[job].title}: {goal.row}": goal.limit
        for job, goals in read_goals(command.GOALS).items()
        for goal in goals
    }
    assert limits == {
        "TeraSort: job time / stock's": 0.36,
        "TeraSort: job time / Tez's": 0.38,
        "TeraSort: all CPU / Tez's": 0.65,
        "TeraSort: all CPU / stock's": 0.33,
        "TeraSort: task CPU without start-up / stock's": 0.30,
        "TeraSort: intermediate bytes written / map output bytes": 1.06,
        "TeraSort: intermediate bytes read and written / stock's": 0.40,
        "TeraSort: the same without HTTP / stock's": None,
        "TeraSort: records spilled on the reduce side": 0,
        "TeraSort, 64 maps: job time / stock's": 0.28,
        "TeraSort, 64 maps: all CPU / stock's": 0.28,
        "TeraSort, 64 maps: job time / Tez's": 0.60,
        "TeraSort, 64 maps: all CPU / Tez's": 0.60,
        "TeraSort, 64 maps: containers started": None,
        "TeraSort, 64 maps: seconds between two maps of a container by the history, median": 0.05,
        "SecondarySort: job time / stock's": 0.50,
        "Sort: job time / stock's": 0.55,
        "WordCount with combiner: job time / stock's": 0.40,
        "1 map, 10 MB: job time / stock's": 0.75,
        "1,000 maps of 1 MiB: job time / stock's": 0.20,
        "1,000 maps of 1 MiB: all CPU / stock's": 0.20,
        "1,000 maps of 1 MiB: containers started": None,
        "200 maps in one JVM: live heap after 200 tasks / after 5": 1.05,
        "200 maps in one JVM: seconds between two maps by the history, median": 0.05,
    }


def test_a_ratio_of_medians_its_interval_and_its_goal() -> None:
    row = found(terasort())[JOB_TIME]
    assert row.value == pytest.approx(32 / 102)
    assert row.interval is not None
    assert row.interval[0] < row.value < row.interval[1]
    assert (row.n, row.goal, row.met) == (5, 0.36, True)
    assert row.p is not None and row.p < 0.05


def test_a_goal_that_is_missed_by_a_little_is_missed() -> None:
    assert found(terasort(vas=37.0))[JOB_TIME].met is False


def test_a_value_at_its_limit_has_met_it() -> None:
    runs = [run(STOCK, client_seconds=100.0), run(VAS, client_seconds=36.0)]
    assert found(runs)[JOB_TIME].met is True


def test_bytes_written_are_a_share_of_the_same_run() -> None:
    runs = [
        made
        for n, written in enumerate((103.0, 104.0, 105.0))
        for made in (run(STOCK, n), run(VAS, n, written_bytes=written))
    ]
    row = found(runs)[WRITTEN]
    assert (row.value, row.n, row.met, row.p) == (1.04, 3, True, None)


def test_a_run_without_a_goals_measure_makes_its_row_invalid() -> None:
    runs = [run(STOCK), run(VAS)]
    del runs[1].measures["reduce_spilled_records"]
    row = found(runs)[SPILLED]
    assert (row.value, row.met, row.invalid) == (
        None,
        False,
        "vas, round 1: it has no reduce_spilled_records",
    )


def test_one_run_that_spilled_is_enough_to_miss() -> None:
    runs = [run(STOCK, n) for n in range(3)]
    runs += [run(VAS, n, reduce_spilled_records=float(n == 1)) for n in range(3)]
    row = found(runs)[SPILLED]
    assert (row.value, row.interval, row.met) == (1, (0, 1), False)


def test_rows_of_arms_that_did_not_run_are_left_out() -> None:
    without_tez = [each for each in terasort() if each.system != TEZ]
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
    bad = run(VAS, 4, checksum="other")
    runs[runs.index(next(r for r in runs if r.system == VAS and r.round == 4))] = bad
    table = found(runs)
    row = table[JOB_TIME].as_json()
    assert (row["value"], row["interval"], row["n"], row["met"]) == (None, None, 4, False)
    assert row["invalid"] == "vas, round 4: its output is other, stock's sum"
    assert all(each.invalid for each in table.values())
    assert len(table[JOB_TIME].as_cells()) == len(COLUMNS)


def test_what_is_wrong_with_tez_leaves_the_rows_without_it() -> None:
    hung = run(TEZ, 1, invalid="it hung")
    runs = [hung if (r.system, r.round) == (TEZ, 1) else r for r in terasort()]
    table = found(runs)
    assert table["TeraSort: all CPU / Tez's"].invalid == "tez, round 1: it hung"
    assert not table[JOB_TIME].invalid


def test_without_stocks_output_nothing_is_known_to_be_right() -> None:
    runs = [run(STOCK, invalid="killed"), run(VAS)]
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
    return {name: measure(job) for name, measure in COMPARED.items()}


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


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    site = Recorded()
    monkeypatch.setattr("vas_bench.run.conduct.planned_site", site.opened)
    monkeypatch.setattr("vas_bench.shuffle.command.build_of_plugins", lambda: "build")
    return site


def shuffle(*words: str) -> int:
    return run_command(["bench", "shuffle", "--without-tez", "--rows", "terasort", *words])


def table(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)["rows"]}


def test_what_is_in_the_file_does_not_run_again(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "runs.jsonl")
    for rounds in ("2", "3"):
        assert shuffle("--rounds", rounds, "--resume", file, "--json") == 0
        assert table(capsys)[JOB_TIME]["n"] == int(rounds)
    assert sorted(recorded.ran) == ["vas"] * 3 + ["yarn-lustre-hosts"] * 3


def test_a_run_that_fails_makes_its_rows_invalid_and_is_made_again(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "runs.jsonl")
    recorded.fails_at = 2
    assert shuffle("--rounds", "2", "--resume", file, "--json") == 1
    row = table(capsys)[JOB_TIME]
    assert row["met"] is False and "it failed: no room" in row["invalid"]
    assert len(recorded.ran) == 4
    assert shuffle("--rounds", "2", "--resume", file, "--json") == 0
    assert "invalid" not in table(capsys)[JOB_TIME]
    assert len(recorded.ran) == 5


def test_a_budget_begins_no_run_that_it_would_cut_off(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shuffle("--budget", "1s", "--json") == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["rows"] == []
    assert "the budget ended with 10 runs left" in err
    assert recorded.ran == []


def test_runs_of_another_setting_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "runs.jsonl"
    monkeypatch.setattr(command, "build_of_plugins", lambda: "build")
    with RunStore.open(file, command.store_settings(64 << 20)) as store:
        store.append(run(STOCK))
    refused = pytest.raises(BadInput, match="size_bytes")
    with refused, RunStore.open(file, command.store_settings(1 << 20)):
        pass
    monkeypatch.setattr(command, "build_of_plugins", lambda: "another")
    refused = pytest.raises(BadInput, match="build")
    with refused, RunStore.open(file, command.store_settings(64 << 20)):
        pass


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{\n "settings": {"size_bytes": 1},\n "runs": []\n}\n', "is not a file of runs of this"),
        ('{"job": 1}\n', "its runs do not name their settings"),
        ('{"settings":{"size_bytes":2}}\n', "its runs had another size_bytes"),
    ],
)
def test_a_file_that_holds_other_runs_is_named(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "runs.json"
    file.write_text(text)
    with pytest.raises(BadInput, match=said) as refused, RunStore.open(file, {"size_bytes": 1}):
        pass
    assert str(file) in str(refused.value)
    assert file.read_text() == text


def test_the_plan_runs_each_job_on_its_systems_with_their_properties() -> None:
    assert set(PLAN.jobs) == set(read_goals(command.GOALS))
    stock, vas, tez = PLAN.experiments("terasort", 1 << 30)
    assert (stock.system, vas.system, tez.system) == (STOCK, VAS, TEZ)
    assert {each.split_bytes for each in (stock, vas, tez)} == {128 << 20}
    tags = dict(vas.system_properties)["mapreduce.job.tags"].split(",")
    assert tags == [SHUFFLE["mapreduce.job.tags"], "vas-placement-off"]
    assert stock.parameters == vas.parameters == tez.parameters
    (one, _) = PLAN.experiments("one-map", 1 << 30)
    assert (one.size_bytes, one.split_bytes, one.reducers) == (10 << 20, 10 << 20, 1)
    assert PLAN.experiments("secondarysort", 1 << 30)[0].size_bytes == 256 << 20


@pytest.mark.parametrize("key", PLAN.jobs)
def test_all_systems_of_a_job_have_the_same_flags_and_only_vas_reuses_by_ours(key: str) -> None:
    told = [dict(it.system_properties) for it in PLAN.experiments(key, 1 << 30)]
    options = ("mapreduce.map.java.opts", "mapreduce.reduce.java.opts")
    assert len({tuple(each.get(name) for name in options) for each in told}) == 1
    # A container that is used again runs maps and reduces.
    assert len({told[0].get(name) for name in options}) == 1
    assert [
        it.system
        for it, each in zip(PLAN.experiments(key, 1 << 30), told, strict=True)
        if "vas.containers.reuse" in each
    ] == [VAS]


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
    assert "round 1: TeraSort, tez" in out
    assert "files, per-reducer" in out
    assert "Apache Tez 0." in err
