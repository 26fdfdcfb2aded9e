"""Two sets of results: what became worse, and what cannot be said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from made_up_runs import made_up_run

from vas_bench.results.record import BenchRun
from vas_core.cli import run_command

_TIMES = [20.0, 20.4, 19.8, 20.1, 20.3]


def _set(path: Path, times: list[float], **fields: Any) -> str:
    runs = [made_up_run(n, **_timed(time), **fields) for n, time in enumerate(times)]
    return _file(path, runs)


def _file(path: Path, runs: list[BenchRun]) -> str:
    path.write_text("".join(run.model_dump_json() + "\n" for run in runs))
    return str(path)


def _timed(seconds: float) -> dict[str, Any]:
    return {"measures": {"job_seconds": seconds, "local_map_share": 10 / seconds}, "phases": {}}


@pytest.mark.parametrize(
    ("factor", "options", "status", "words"),
    [
        (1.5, [], 3, "worse: 50.0 % more time than A"),
        (1.0, [], 0, "not significant"),
        (0.5, [], 0, "better: 50.0 % less time than A"),
        (1.1, ["--threshold", "0.2"], 0, "(below the threshold)"),
        (1.3, ["--threshold", "0.2"], 3, "worse"),
        (0.5, ["--measure", "local_map_share"], 0, "better: 100.0 % more local map share"),
        (1.5, ["--measure", "local_map_share"], 3, "worse"),
    ],
)
def test_status_3_is_for_what_became_worse(
    factor: float,
    options: list[str],
    status: int,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    a = _set(tmp_path / "a", _TIMES)
    b = _set(tmp_path / "b", [factor * time for time in _TIMES])
    assert run_command(["bench", "compare", a, b, *options]) == status
    assert words in capsys.readouterr().out


def test_one_run_has_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a, b = (_set(tmp_path / name, [20.0]) for name in "ab")
    assert run_command(["bench", "compare", a, b]) == 0
    assert "1.000 to 1.000" not in capsys.readouterr().out


def test_three_runs_cannot_be_worse_and_that_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = (_set(tmp_path / name, times) for name, times in (("a", _TIMES[:3]), ("b", [40.0] * 3)))
    assert run_command(["bench", "compare", a, b]) == 0
    shown = capsys.readouterr()
    assert "n=3 never is" in shown.out
    assert "1 of 1 cannot be judged: run 4 of each" in shown.err


def test_what_is_on_one_side_alone_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = _file(tmp_path / "a", [made_up_run(1), made_up_run(2, system="tez")])
    b = _file(tmp_path / "b", [made_up_run(1), made_up_run(2, workload="sort")])
    assert run_command(["bench", "compare", a, b, "--json"]) == 0
    missing = json.loads(capsys.readouterr().out)["missing"]
    assert [(each["name"].split(" ")[0], each["side"]) for each in missing] == [
        ("terasort", "A"),
        ("sort", "B"),
    ]


def test_what_else_differs_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = _set(tmp_path / "a", _TIMES)
    b = _set(tmp_path / "b", _TIMES, versions={"hadoop": "9"}, environment={"cpus": 64})
    assert run_command(["bench", "compare", a, b]) == 0
    shown = capsys.readouterr().err
    assert "version of hadoop: 0.0-made-up -> 9" in shown
    assert "environment cpus: 2 -> 64" in shown


def test_a_set_with_two_configurations_is_not_averaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [made_up_run(1), made_up_run(2, configuration={"codec": "lz4"})]
    a, b = _file(tmp_path / "a", both), _set(tmp_path / "b", _TIMES)
    assert run_command(["bench", "compare", a, b]) == 2
    assert "several configurations" in capsys.readouterr().err


def test_measures_that_are_neither_good_nor_bad_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = _set(tmp_path / "a", _TIMES)
    for measure in ("total_maps", "speed"):
        assert run_command(["bench", "compare", a, a, "--measure", measure]) == 2
        assert "not a measure that gets better" in capsys.readouterr().err
    assert run_command(["bench", "compare", a, a, "--measure", "gc_seconds"]) == 2
    assert "no experiment has gc_seconds in both" in capsys.readouterr().err


def test_what_became_invalid_is_worse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    a = _set(tmp_path / "a", _TIMES)
    b = _set(tmp_path / "b", _TIMES, invalid="the job failed")
    assert run_command(["bench", "compare", a, b]) == 3
    assert "INVALID in B: terasort" in capsys.readouterr().err
    assert run_command(["bench", "compare", b, a]) == 0, "it was, and is not any more"
    assert "all its runs in A are INVALID" in capsys.readouterr().err


def test_one_zero_keeps_nothing_else_from_being_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measures = {"job_seconds": 20.0, "failed_reduces": 0.0}
    zero = [made_up_run(n, measures=measures, phases={}) for n in range(5)]
    stock: dict[str, Any] = {"system": "yarn-lustre", "phases": {}}

    def failing(times: int) -> list[BenchRun]:
        counted = [{"job_seconds": 20.0, "failed_reduces": float(times + n)} for n in range(5)]
        return [made_up_run(9 + n, measures=each, **stock) for n, each in enumerate(counted)]

    a = _file(tmp_path / "a", [*zero, *failing(1)])
    b = _file(tmp_path / "b", [*zero, *failing(20)])
    assert run_command(["bench", "compare", a, b, "--measure", "failed_reduces"]) == 3
    shown = capsys.readouterr()
    assert "vas: failed_reduces is 0 in A, which has no ratio: not judged" in shown.err
    assert "more failed reduces" in shown.out
