"""The time between two maps of one container."""

from __future__ import annotations

from typing import cast

import pytest

from vas_core.errors import VasError
from vas_yarn.history import History, MapAttempt
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.pauses import pause_seconds, with_pauses


def test_a_pause_lies_between_maps_of_the_same_container() -> None:
    maps = [
        attempt("c1", 2050, 3000),
        attempt("c2", 1500, 2100),
        attempt("c1", 1000, 2000),
        attempt("c1", 3020, 4000),
    ]
    assert pause_seconds(maps) == pytest.approx([0.05, 0.02])


def test_containers_of_one_map_have_no_pause() -> None:
    assert pause_seconds([attempt("c1", 0, 10), attempt("c2", 5, 20)]) == []


class Server:
    """A history with three maps in a container, or one that does not answer."""

    def __init__(self, *, answers: bool = True) -> None:
        self.answers = answers

    def maps(self, job: str) -> list[MapAttempt]:
        if not self.answers:
            raise VasError("does not answer")
        return [attempt(job, 0, 10), attempt(job, 30, 40), attempt(job, 41, 50)]


def job(**counters: int) -> JobResult:
    return JobResult(
        application_id="application_1_1",
        job_id="job_1_1",
        state="SUCCEEDED",
        seconds=1,
        client_seconds=1,
        wall_seconds=1,
        cpu_seconds=1,
        counters={"any": counters},
        map_counters={},
    )


def test_the_median_pause_is_of_jobs_that_used_containers_again() -> None:
    history = cast(History, Server())
    assert with_pauses(job(CONTAINERS_REUSED=2), history).between_tasks_seconds == 0.0105
    assert with_pauses(job(), history).between_tasks_seconds is None


def test_a_history_that_does_not_answer_fails_no_job() -> None:
    history = cast(History, Server(answers=False))
    assert with_pauses(job(CONTAINERS_REUSED=2), history).between_tasks_seconds is None


def attempt(container: str, start_ms: int, finish_ms: int) -> MapAttempt:
    return MapAttempt("task", "attempt", "vm1", container, start_ms, finish_ms)
