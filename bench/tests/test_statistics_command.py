"""`vas bench stats`: the tables it reads, what it prints, what it refuses."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from made_up_runs import made_up_results, made_up_run

from vas_bench.csvfile import parse_table
from vas_bench.results.record import BenchRun
from vas_bench.results.store import RunStore
from vas_bench.statistics.samples import samples_of
from vas_core.cli import run_command
from vas_core.errors import BadInput

_LONG = "arm,value,round\nstock,10,1\nVAS,6,1\nVAS,6.1,2\nstock,10.1,2\n"
_WIDE = "stock,VAS\n10,6\n10.1,6.1\n"
_RUNS = "\n".join(["stock,VAS", "10,6", "10.1,6.1", "9.9,5.9", "10.2,6.2", "10.3,6.05"])


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("text", [_LONG, _WIDE])
def test_both_shapes_of_table_are_read(text: str, paired: bool) -> None:
    found = _samples(text, paired)
    assert found == {"stock": [10, 10.1], "VAS": [6, 6.1]}


def test_arms_may_have_different_numbers_of_runs() -> None:
    assert _samples("a,b\n1,2\n1.5,\n") == {"a": [1, 1.5], "b": [2]}


@pytest.mark.parametrize(
    ("text", "paired", "said"),
    [
        ("arm,value\na,1\n", False, "holds one arm"),
        ("arm,value\na,1\nb,x\n", False, "x.csv:3: value is 'x'"),
        ("arm,value\na,1\nb,0\n", False, "x.csv:3: value is '0'; a number above zero"),
        ("arm,value\na,1\n,2\n", False, "x.csv:3: arm is empty"),
        ("arm,value\na,1\nb,2\n", True, "has no column round"),
        ("arm,value,round\na,1,1\nb,2,1\na,3,2\n", True, "b has no round 2"),
        ("arm,value,round\na,1,1\na,2,1\nb,2,1\n", True, "round 1 of a stands twice"),
        ("a,b\n1,2\n1,\n", True, "x.csv:3: b is empty"),
        ("a,b\n1,\n", False, "x.csv: b: has no values"),
    ],
)
def test_what_cannot_be_compared_is_refused(text: str, paired: bool, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        _samples(text, paired)
    assert said in str(refused.value)


def test_json_has_all_and_says_how(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(_RUNS))
    assert run_command(["bench", "stats", "-", "--base", "stock", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [arm["n"] for arm in found["arms"]] == [5, 5]
    (vas,) = found["comparisons"]
    assert vas["ratio"] == pytest.approx(6.05 / 10.1)
    assert vas["interval"][0] < vas["ratio"] < vas["interval"][1]
    assert vas["significant"] and vas["p"] == pytest.approx(2 / 252)
    assert vas["gain"]["time_saved"] == pytest.approx(1 - vas["ratio"])
    assert vas["gain"]["base"] == "stock"
    assert "bootstrap" in found["methods"]["interval"]


def test_tables_name_the_base_and_give_a_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "runs.csv"
    file.write_text(_RUNS)
    assert run_command(["bench", "stats", str(file), "--better", "higher"]) == 0
    printed = capsys.readouterr().out
    assert "/ stock" in printed
    assert "worse: 40.1 % less throughput than stock" in printed


def test_an_unknown_base_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "runs.csv"
    file.write_text(_RUNS)
    assert run_command(["bench", "stats", str(file), "--base", "HDFS"]) == 2
    assert "--base HDFS: is not an arm; one of stock, VAS" in capsys.readouterr().err


def test_what_is_no_text_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "runs.csv"
    file.write_bytes(b"\xff\xfe\x00a,b")
    assert run_command(["bench", "stats", str(file)]) == 2
    assert "is not text" in capsys.readouterr().err


def _samples(text: str, paired: bool = False) -> dict[str, list[float]]:
    return samples_of(parse_table(text.splitlines(), "x.csv"), paired=paired)


def test_one_run_has_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.csv"
    file.write_text("a,b\n1,2\n")
    assert run_command(["bench", "stats", str(file), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["comparisons"][0]["interval"] is None
    assert run_command(["bench", "stats", str(file)]) == 0
    assert "2 to 2" not in capsys.readouterr().out


def _results(file: Path, runs: list[BenchRun]) -> str:
    with RunStore.open(file) as store:
        for run in runs:
            store.append(run)
    return str(file)


@pytest.mark.unhurried
@pytest.mark.parametrize("words", [(), ("--paired",), ("--measure", "cpu_seconds")])
def test_what_bench_run_wrote_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    kept = [
        run.model_copy(update={"round": number // 5 + 1})
        for number, run in enumerate(made_up_results(), -5)
        if run.workload == "terasort"
    ]
    file = _results(tmp_path / "night.jsonl", kept)
    assert run_command(["bench", "stats", file, "--base", "yarn-lustre", "--json", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {arm["arm"]: arm["n"] for arm in found["arms"]}["vas"] == 5
    vas = next(each for each in found["comparisons"] if each["arm"] == "vas")
    assert vas["ratio"] == pytest.approx(25 / 60, rel=0.1)


def test_results_that_cannot_be_compared_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = _results(tmp_path / "both.jsonl", made_up_results())
    assert run_command(["bench", "stats", both]) == 2
    assert "holds 2 experiments (terasort, wordcount)" in capsys.readouterr().err
    one = _results(tmp_path / "one.jsonl", [made_up_run()])
    assert run_command(["bench", "stats", one]) == 2
    assert "holds one system" in capsys.readouterr().err
    runs = [made_up_run(0), made_up_run(1, system="tez")]
    two = _results(tmp_path / "two.jsonl", runs)
    assert run_command(["bench", "stats", two, "--measure", "hsph"]) == 2
    assert "tez has no hsph" in capsys.readouterr().err
