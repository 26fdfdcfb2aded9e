"""Checks that the time is not enough for are not finished, and are no acceptance."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from vas_accept.outcome import AcceptanceCheck, AcceptanceStatus, NotApplicable
from vas_accept.place import AcceptancePlace
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


@pytest.mark.machine
def test_a_program_that_the_deadline_stops_does_not_fail_its_check(tmp_path: Path) -> None:
    place = AcceptancePlace(directory=tmp_path, deadline=time.monotonic() + 1)
    endless = [sys.executable, "-c", "import signal; signal.pause()"]
    result = run_check(check("slow", lambda it: it.run(endless).stdout), place)
    assert result.status is AcceptanceStatus.NOT_FINISHED
