"""Jobs whose output may be incomplete after guests stopped without a sync."""

from __future__ import annotations

from typing import Any

from vas_ansible.suspects import suspect_lines


def job(number: int, **more: Any) -> dict[str, Any]:
    return {"id": f"application_1_{number:04}", "name": "sort", "user": "ann", **more}


def test_D1_jobs_that_ended_and_jobs_that_run_are_named_once() -> None:
    ended = {
        "json": {"apps": {"app": [job(1, finishedTime=1764000000000, finalStatus="SUCCEEDED")]}}
    }
    runs = {"json": {"apps": {"app": [job(2, finishedTime=0, state="RUNNING"), job(1)]}}}
    heading, first, second = suspect_lines(["vm1", "vm2"], 15, [ended, runs])
    assert heading.startswith("SUSPECT: vm1, vm2 stopped without a sync")
    assert first == "application_1_0001 (sort) of ann: succeeded at 2025-11-24T16:00:00+00:00"
    assert second == "application_1_0002 (sort) of ann: running"


def test_D1_it_is_said_that_there_is_none() -> None:
    assert suspect_lines(["vm1"], 15, [{"json": {"apps": None}}, {"json": {"apps": {}}}])[1:] == [
        "none ran in the 15 minutes before"
    ]


def test_D1_without_the_resourcemanager_every_job_is_suspect() -> None:
    for answers in ([], [{"msg": "refused"}, {"json": {"apps": {"app": [job(1)]}}}]):
        said = suspect_lines(["vm1"], 15, answers)
        assert "every job of the 15 minutes before" in said[1]
