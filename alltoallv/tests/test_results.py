"""The figures of the page of evidence are those of the committed files of results."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from vas_a2av import results
from vas_a2av.building import SIMULATED, is_installed
from vas_a2av.grid_points import GridPoint, read_points
from vas_a2av.results import RESULTS, commands, load
from vas_a2av.tables import PAGE, page_with_tables
from vas_core.cli import run_command
from vas_core.errors import BadInput


def test_the_page_has_the_tables_of_the_results() -> None:
    text = PAGE.read_text()
    hint = "run python -m vas_a2av.tables"
    assert page_with_tables(text) == text, hint
    assert text.count("<!-- table ") == text.count("<!-- end -->") == 5


def test_each_result_is_of_a_command_that_is_run_again() -> None:
    found = load()
    assert {each.command for each in found} <= set(commands())
    assert len({each.command for each in found}) == len(found)
    assert all(f"--ranks {each.ranks} --size {each.size} " in each.command for each in found)
    assert all(each.seconds > 0 for each in found)


@pytest.mark.parametrize("path", [results.GRID, results.GRID_OF_NODES])
def test_no_point_of_the_grid_stands_twice(path: Path) -> None:
    points = results.grid_points(path)
    assert len({point.place for point in points}) == len(points)


def test_a_damaged_result_is_named(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    path.write_text(RESULTS.read_text() + '{"command": "vas a2av bench"}\n')
    number = len(load()) + 1
    with pytest.raises(BadInput, match="is not a result of `vas a2av bench`") as caught:
        load(path)
    assert f"line {number}: is not a result" in str(caught.value)


_POINT = {"platform": "torus", "node_ranks": 1, "ranks": 8, "size": 8, "distribution": "uniform"}
_COST = {"used": "sloav2", "radix": 2, "own_seconds": 1e-5, "ratio": 0.125}


@pytest.mark.parametrize(
    "line",
    [
        '{"ranks": 8}',
        "[" * 100_000,
        json.dumps(_POINT | _COST | {"ranks": [8]}),
        json.dumps(_POINT | _COST | {"own_seconds": "fast"}),
        json.dumps(_POINT | _COST | {"ratio": float("nan")}),
        json.dumps(_POINT | _COST | {"colour": "red"}),
    ],
)
def test_a_damaged_file_of_points_is_refused_first(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "points.jsonl"
    path.write_text(f"{line}\n")
    assert run_command(["a2av", "grid", "--resume", str(path)]) == 2
    assert "line 1: is not a point of `vas a2av grid`; remove the line" in capsys.readouterr().err


@pytest.mark.slow
def test_a_grid_goes_on_where_it_was_interrupted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if not is_installed(SIMULATED):
        pytest.skip(f"SimGrid is not installed: apt-get install {SIMULATED.package}")
    path = tmp_path / "points.jsonl"
    known = GridPoint("torus", 1, 8, 8, "uniform", "sloav2", 2, 1e-5, 0.125)
    path.write_text(json.dumps(asdict(known)) + "\n")
    words = ["a2av", "grid", "--ranks", "8", "--ranks", "4", "--size", "8", "--json"]
    assert run_command([*words, "--distribution", "uniform", "--resume", str(path)]) == 0
    printed = json.loads(capsys.readouterr().out)["points"]
    assert printed[0] == asdict(known)
    assert [point["ranks"] for point in printed] == [8, 4]
    assert [asdict(point) for point in read_points(path)] == printed
