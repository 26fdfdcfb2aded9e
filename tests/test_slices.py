"""Every nightly test is in one slice, and CI runs the slices in turn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_tests import commands, slices
from vas_tests.checks import Outcome, SuiteCheck
from vas_tests.slices import Slice, read_green_runs, read_slices, record_green_run


@pytest.mark.unhurried
@pytest.mark.machine
@pytest.mark.timeout(300)
def test_every_nightly_test_is_in_exactly_one_slice() -> None:
    collect = (
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--collect-only",
        "-m",
        "nightly",
        "--color=no",
    )
    # Status 0 of a process that may not find a module; what is collected is compared.
    said = subprocess.run(
        collect, cwd=REPOSITORY, capture_output=True, text=True, check=True
    ).stdout
    nightly = {line.partition("::")[0] for line in said.splitlines() if "::" in line}
    sliced = [test for part in read_slices() for test in part.tests]
    assert sorted(sliced) == sorted(nightly)


@pytest.mark.machine
def test_the_commits_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    fitting = [part.number for part in read_slices() if not part.alone]
    turns = []
    for commits in range(len(fitting)):
        monkeypatch.setattr(slices, "_git", lambda *_, said=commits: str(said))
        turns.append(slices.slice_of_this_commit().number)
    assert sorted(turns) == fitting


@pytest.mark.machine
def test_ci_ends_with_one_slice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["test", "--ci", "--list"]) == 0
    last = capsys.readouterr().out.strip().splitlines()[-1]
    commits = run(["git", "-C", str(REPOSITORY), "rev-list", "--count", "HEAD"]).stdout
    fitting = [part for part in read_slices() if not part.alone]
    turn = fitting[int(commits) % len(fitting)]
    assert last.startswith(f"nightly, slice {turn.number} ")
    assert last.endswith(f"-m nightly {' '.join(turn.tests)}")


@pytest.mark.machine
def test_a_green_run_is_recorded_beside_the_others(tmp_path: Path) -> None:
    page = tmp_path / "evidence/slices.md"
    first, second = read_slices()[:2]
    record_green_run(second, Outcome(second.check(), 0, 61.0, skipped=3, passed=2), page)
    record_green_run(first, Outcome(first.check(), 0, 600.0, skipped=0, passed=5), page)
    runs = read_green_runs(page)
    assert list(runs) == [first.name, second.name]
    assert runs[first.name].minutes == 10
    assert runs[second.name].minutes == 1
    assert (runs[first.name].skipped, runs[second.name].skipped) == (0, 3)
    assert (
        runs[first.name].commit
        == run(["git", "-C", str(REPOSITORY), "rev-parse", "--short=10", "HEAD"]).stdout.strip()
    )


def test_the_list_names_every_slice(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["test", "--slices"]) == 0
    shown = capsys.readouterr().out
    assert all(part.name in shown for part in read_slices())


def test_a_slice_that_skips_all_its_tests_is_not_recorded(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run_none(checks: list[SuiteCheck]) -> list[Outcome]:
        return [Outcome(check, 0, 1.0, skipped=11, passed=0) for check in checks]

    monkeypatch.setattr(commands, "run_checks", run_none)
    monkeypatch.setattr(commands, "record_green_run", lambda *_: pytest.fail("recorded"))
    assert run_command(["test", "--slice", "1", "--record"]) == 1
    shown = capsys.readouterr()
    assert "nightly, slice 1  skipped" in shown.out
    assert "--slice 1: every test was skipped" in shown.err


@pytest.mark.parametrize("words", [["--slice", "99"], ["--slice", "0"], ["--record"]])
def test_a_wrong_slice_is_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["test", *words]) == 2
    assert "slice" in capsys.readouterr().err


def test_a_slice_alone_holds_one_file() -> None:
    alone = [part for part in read_slices() if part.alone]
    assert alone
    assert all(len(part.tests) == 1 for part in alone)
    assert isinstance(alone[0], Slice)
