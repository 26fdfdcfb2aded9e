"""Measures the time between two maps of one container, by the times that the history has."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise
from statistics import median

from vas_core.errors import VasError
from vas_yarn.history import History, MapAttempt
from vas_yarn.jobs.job import JobResult

# The history is asked once for each map.
_MOST_MAPS = 2000


def with_pauses(job: JobResult, history: History) -> JobResult:
    """Returns a job's result with `between_tasks_seconds`.

    Without it where no container was used again, of more than 2,000 maps, and where the history
    server does not answer: the job has succeeded all the same.
    """
    if not job.counter("CONTAINERS_REUSED") or job.total_maps > _MOST_MAPS:
        return job
    try:
        pauses = pause_seconds(history.maps(job.job_id))
    except VasError:
        return job
    return job.model_copy(update={"between_tasks_seconds": median(pauses) if pauses else None})


def pause_seconds(maps: Iterable[MapAttempt]) -> list[float]:
    """Returns the seconds from the end of each map to the start of the next in its container."""
    in_turn = sorted(maps, key=lambda each: (each.container_id, each.start_ms))
    return [
        (later.start_ms - earlier.finish_ms) / 1000
        for _, here in groupby(in_turn, key=lambda each: each.container_id)
        for earlier, later in pairwise(here)
    ]
