"""Checks that the time is not enough for are not finished, and are no acceptance."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from vas_accept.commands import made_once
from vas_accept.other_user import OrdinaryUser
from vas_accept.outcome import AcceptanceCheck, AcceptanceStatus, NotApplicable
from vas_accept.place import AcceptanceOptions, AcceptancePlace
from vas_accept.report import AcceptanceFacts, AcceptanceReport
from vas_accept.run import run_check, run_checks

FACTS = AcceptanceFacts(
    time="2026-01-01", mount="/lustre", fsname="lab", osts=4, lustre=None, kernel="6.12", mode=None,
    vas="1",
)  # fmt: skip


def made(_place: AcceptancePlace) -> str:
    return "all is well"


def failing(_place: AcceptancePlace) -> str:
    raise OSError("it is not")


def left_out(_place: AcceptancePlace) -> str:
    raise NotApplicable("no pool")


def check(name: str, run: object = made) -> AcceptanceCheck:
    assert callable(run)
    return AcceptanceCheck(name, name, run, "a meaning", "a fix")


def late(directory: Path) -> AcceptancePlace:
    return AcceptancePlace(directory=directory, deadline=time.monotonic())


def test_checks_that_did_not_begin_are_named_and_nothing_is_accepted(tmp_path: Path) -> None:
    results = run_checks([check("one"), check("two")], late(tmp_path))
    assert [each.status for each in results] == [AcceptanceStatus.NOT_FINISHED] * 2
    report = AcceptanceReport(FACTS, results)
    assert report.complaint() == "not finished: one, two"
    assert report.as_json()["ok"] is False
    assert report.counts()["not finished"] == 2
    assert "lab: not finished" in report.html() and "accepted" not in report.html()


def test_a_failure_is_told_before_what_was_not_finished(tmp_path: Path) -> None:
    place = AcceptancePlace(directory=tmp_path)
    results = [run_check(check("bad", failing), place), run_check(check("two"), late(tmp_path))]
    report = AcceptanceReport(FACTS, results)
    assert report.complaint() == "failed: bad; not finished: two"
    assert "lab: checks failed" in report.html()


def test_checks_that_do_not_apply_are_no_complaint(tmp_path: Path) -> None:
    place = AcceptancePlace(directory=tmp_path)
    results = [run_check(check("one"), place), run_check(check("no", left_out), place)]
    report = AcceptanceReport(FACTS, results)
    assert (report.complaint(), report.verdict) == (None, "accepted")


def test_a_part_of_the_checks_is_no_acceptance(tmp_path: Path) -> None:
    place = AcceptancePlace(directory=tmp_path)
    report = AcceptanceReport(FACTS, [run_check(check("one"), place)], left_out=39)
    assert report.complaint() is None
    assert report.verdict == "1 of 40 checks made: no acceptance"
    assert report.as_json()["left_out"] == 39


@pytest.mark.machine
def test_a_program_that_the_deadline_stops_does_not_fail_its_check(tmp_path: Path) -> None:
    place = AcceptancePlace(directory=tmp_path, deadline=time.monotonic() + 1)
    endless = [sys.executable, "-c", "import signal; signal.pause()"]
    result = run_check(check("slow", lambda it: it.run(endless).stdout), place)
    assert result.status is AcceptanceStatus.NOT_FINISHED


@pytest.mark.machine
@pytest.mark.parametrize("answer", ["echo '{\"checks\": []}'; exit 3", "exec sleep 600"])
def test_another_users_process_knows_the_time_that_is_left(
    answer: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program that becomes the user is a script here, which keeps its words."""
    programs, words = tmp_path / "programs", tmp_path / "words"
    programs.mkdir()
    script = programs / "setpriv"
    script.write_text(f'#!/bin/sh\necho "$@" > {words}\n{answer}\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    user = OrdinaryUser("ann", os.getuid(), os.getgid(), "/", end_seconds=1.0)
    results = user.results(tmp_path, (), 0.5)
    assert words.read_text().endswith(" --json --seconds 0.5\n")
    hung = [("as-user", AcceptanceStatus.NOT_FINISHED)] if "sleep" in answer else []
    assert [(each.check, each.status) for each in results] == hung


def test_a_failover_is_made_once(tmp_path: Path) -> None:
    place = AcceptancePlace(directory=tmp_path)
    results = [run_check(check("failover", left_out), place), run_check(check("two"), place)]
    told = made_once(results, AcceptanceOptions(failover=True))
    assert [each.seen for each in told] == ["made once, as root", "all is well"]
    assert made_once(results, AcceptanceOptions()) == results
