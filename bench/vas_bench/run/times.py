"""A job's seconds by phase, from the times of its tasks. Pure.

`python -m vas_bench.run.times JOB`, run where the site is, prints the times that it is from.
"""

from __future__ import annotations

import argparse

from pydantic import BaseModel, ConfigDict

from vas_cluster import load_site
from vas_yarn.history import History, MapAttempt, ReduceAttempt


class JobTimes(BaseModel):
    """The times of a job and of its tasks' successful attempts, in Unix milliseconds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    submit_ms: int
    finish_ms: int
    maps: list[MapAttempt]
    reduces: list[ReduceAttempt]


class _Cursor:
    """A moment that only moves forwards, and never past the job's end."""

    def __init__(self, at_ms: int, end_ms: int) -> None:
        self._at, self._end = at_ms, end_ms

    def until(self, moment_ms: int) -> float:
        """Seconds from where it was to there."""
        before = self._at
        self._at = max(self._at, min(moment_ms, self._end))
        return (self._at - before) / 1000


def phases_of(times: JobTimes) -> dict[str, float]:
    """Returns name -> seconds of phases in a row; the slowest task ends each phase.

    `start` lasts up to the first map; `shuffle` is the part of it that the maps do not hide.
    Time in no phase (a wait for the first reducer, the job's end) is left out: `record.close`
    adds it.
    """
    if not times.maps:
        return {}
    now = _Cursor(times.submit_ms, times.finish_ms)
    found = {
        "start": now.until(min(task.start_ms for task in times.maps)),
        "map": now.until(max(task.finish_ms for task in times.maps)),
    }
    if times.reduces:
        now.until(min(task.start_ms for task in times.reduces))
        found["shuffle"] = now.until(max(task.shuffle_finish_ms for task in times.reduces))
        found["merge"] = now.until(max(task.merge_finish_ms for task in times.reduces))
        found["reduce"] = now.until(max(task.finish_ms for task in times.reduces))
    return found


def look(history: History, job: str) -> JobTimes:
    """Returns a job's times from its JobHistoryServer. Raises VasError if it does not answer."""
    summary = history.job(job)
    return JobTimes(
        submit_ms=summary["submitTime"],
        finish_ms=summary["finishTime"],
        maps=history.maps(job),
        reduces=history.reduces(job),
    )


def arguments() -> argparse.ArgumentParser:
    """Returns a parser of the arguments [--history URL] JOB."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--history")
    parser.add_argument("job")
    return parser


def asked(words: argparse.Namespace) -> tuple[History, str]:
    """Returns the JobHistoryServer and job that arguments of `arguments` name.

    Without --history the server is that of the site's map.
    """
    master = load_site("run it in a lab").yarn.resourcemanager.name
    return History(words.history or f"http://{master}:19888"), words.job


if __name__ == "__main__":
    print(look(*asked(arguments().parse_args())).model_dump_json())
