"""Jobs that never ran: what a lab would say of them."""

from __future__ import annotations

from vas_bench.run.times import JobTimes
from vas_yarn.history import MapAttempt, ReduceAttempt
from vas_yarn.jobs.job import Counters, JobResult


def a_job(counters: Counters, map_counters: Counters | None = None) -> JobResult:
    """A job of 9 s."""
    return JobResult(
        application_id="application_1_1",
        job_id="job_1_1",
        state="SUCCEEDED",
        seconds=9,
        client_seconds=10,
        wall_seconds=11,
        cpu_seconds=12,
        counters=counters,
        map_counters=map_counters or {},
    )


def times(
    maps: list[tuple[int, int]], reduces: list[tuple[int, int, int, int]], finish: int
) -> JobTimes:
    """A job that was submitted at 1 s; all in milliseconds."""
    return JobTimes(
        submit_ms=1000,
        finish_ms=finish,
        maps=[MapAttempt("t", "a", "vm1", "c", *each) for each in maps],
        reduces=[ReduceAttempt("t", *each) for each in reduces],
    )
