"""Reads jobs, tasks and logs from the JobHistoryServer's REST interface."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vas_core.errors import BadInput, VasError
from vas_yarn.answer import AnswerPart
from vas_yarn.rest import WebServer

_APPLICATION = re.compile(r"(?:application|job)_(\d+_\d+)")
# MapTask logs this when it starts on a FileSplit, and its range: the only record of a map's split.
# The log is the job's own: it may hold anything, of any length.
_SPLIT = "Processing split: "
_RANGE = re.compile(r"([0-9]{1,18})\+([0-9]{1,18})")
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*:(//[^/]*)?")

# The server tells of one map at a time, and has to open a log for it.
_AT_ONCE = 16
Counters = dict[str, dict[str, int]]


@dataclass(frozen=True)
class Split:
    """The bytes one map read: path in the file system, offset and length in bytes."""

    path: str
    offset: int
    length: int


@dataclass(frozen=True)
class MapAttempt:
    """The successful attempt of one map task; times are Unix milliseconds."""

    task_id: str
    attempt_id: str
    node: str
    container_id: str
    start_ms: int
    finish_ms: int


@dataclass(frozen=True)
class ReduceAttempt:
    """The successful attempt of one reduce task; times are Unix milliseconds.

    The ends of shuffle and merge are those the application master heard of; 0 for none.
    """

    task_id: str
    start_ms: int
    shuffle_finish_ms: int
    merge_finish_ms: int
    finish_ms: int


def job_id(application_id: str) -> str:
    """Returns the job's id for a job's or an application's. Raises BadInput for anything else."""
    match = _APPLICATION.fullmatch(application_id)
    if not match:
        raise BadInput(
            f"{application_id!r} is not an application id",
            hint="write it like application_1700000000000_0001",
        )
    return f"job_{match[1]}"


class History:
    """A JobHistoryServer, by the URL of its web interface (`http://rm:19888`)."""

    def __init__(self, url: str, ca: Path | None = None) -> None:
        self._server = WebServer(
            "the JobHistoryServer",
            url,
            refused_hint="a job shows up some seconds after its end; check the id",
            silent_hint="give its address with --history",
            ca=ca,
        )

    def job(self, job: str) -> dict[str, Any]:
        """Returns the job's summary, with the server's keys.

        Raises VasError if the server does not answer.
        """
        found: dict[str, Any] = self._get(f"mapreduce/jobs/{job}", "job").found
        return found

    def finish_ms(self, job: str) -> int:
        """Returns when a job that is over ended (Unix ms).

        Raises VasError if the server does not answer.
        """
        return self._get(f"mapreduce/jobs/{job}", "job").number("finishTime")

    def properties(self, job: str) -> dict[str, str]:
        """Returns the job's configuration: property -> value.

        Raises VasError if the server does not answer.
        """
        found = self._get(f"mapreduce/jobs/{job}/conf", "conf")
        # The server makes a JSON number of every value that looks like one.
        return {each.text("name"): each.scalar("value") for each in found.parts("property")}

    def counters(self, job: str, of: str = "total") -> Counters:
        """Returns the job's counters: group -> counter -> value. MapReduce leaves zeros out.

        `of` is `total`, or `map` or `reduce` for those tasks' alone. Raises VasError if the server
        does not answer.
        """
        found = self._get(f"mapreduce/jobs/{job}/counters", "jobCounters")
        return {
            group.text("counterGroupName"): {
                each.text("name"): each.number(f"{of}CounterValue")
                for each in group.parts("counter")
            }
            for group in found.parts("counterGroup")
        }

    def maps(self, job: str) -> list[MapAttempt]:
        """Returns the successful attempt of each map task, in the order of tasks.

        Raises VasError if the server does not answer.
        """
        return [
            MapAttempt(
                task_id=task,
                attempt_id=found.text("id"),
                node=found.text("nodeHttpAddress").rpartition(":")[0],
                container_id=found.text("assignedContainerId"),
                start_ms=found.number("startTime"),
                finish_ms=found.number("finishTime"),
            )
            for task, found in self._successful(job, "m")
        ]

    def reduces(self, job: str) -> list[ReduceAttempt]:
        """Returns the successful attempt of each reduce task, in the order of tasks.

        Raises VasError if the server does not answer.
        """
        return [
            ReduceAttempt(
                task_id=task,
                start_ms=found.number("startTime"),
                shuffle_finish_ms=found.number("shuffleFinishTime", 0),
                merge_finish_ms=found.number("mergeFinishTime", 0),
                finish_ms=found.number("finishTime"),
            )
            for task, found in self._successful(job, "r")
        ]

    def _successful(self, job: str, kind: str) -> list[tuple[str, AnswerPart]]:
        """Task id and successful attempt of each map (`m`) or reduce (`r`) task, in order."""
        tasks = self._get(f"mapreduce/jobs/{job}/tasks?type={kind}", "tasks").parts("task")
        done = sorted(
            (task.text("id"), task.text("successfulAttempt"))
            for task in tasks
            if task.text("state") == "SUCCEEDED"
        )

        def look(task: tuple[str, str]) -> tuple[str, AnswerPart]:
            path = f"mapreduce/jobs/{job}/tasks/{task[0]}/attempts/{task[1]}"
            return task[0], self._get(path, "taskAttempt")

        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return list(pool.map(look, done))

    def splits(self, attempts: Sequence[MapAttempt]) -> dict[MapAttempt, Split | None]:
        """Returns each attempt's split, read from its log; None if the log is not there or names
        no split of a file."""
        logs = _logs(attempts)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return dict(zip(attempts, pool.map(self._split, logs), strict=True))

    def _split(self, log: str) -> Split | None:
        try:
            text = self._read(f"containerlogs/{log}")
        except VasError:
            return None
        return next(_splits_in(text), None)

    def _get(self, path: str, key: str) -> AnswerPart:
        """The one object that an answer holds. Raises VasError where it holds something else."""
        found = self._server.read_json(f"ws/v1/history/{path}").document.get(key)
        where = f"{self._server.url}: {path}"
        if not isinstance(found, dict | None):
            raise VasError(f"answers no {key}", where=where)
        return AnswerPart(where, found or {})

    def _read(self, path: str) -> str:
        return self._server.read(f"ws/v1/history/{path}").text


def _logs(attempts: Sequence[MapAttempt]) -> list[str]:
    """Container and file of each attempt's log; a container that runs several has one for each."""
    first: dict[str, MapAttempt] = {}
    for attempt in sorted(attempts, key=lambda each: each.start_ms):
        first.setdefault(attempt.container_id, attempt)
    return [
        f"{attempt.container_id}/syslog"
        if first[attempt.container_id] == attempt
        else f"{attempt.container_id}/syslog-{attempt.attempt_id}"
        for attempt in attempts
    ]


def _splits_in(log: str) -> Iterator[Split]:
    at = log.find(_SPLIT)
    while at >= 0:
        end = log.find("\n", at)
        line = log[at + len(_SPLIT) : end if end >= 0 else len(log)].rstrip()
        uri, _, span = line.rpartition(":")
        found = _RANGE.fullmatch(span)
        # Not parsed as a URL: Hadoop prints a path's own # and ? as they are.
        if found and uri and not uri[0].isspace() and "\0" not in uri:
            yield Split(_SCHEME.sub("", uri), int(found[1]), int(found[2]))
        at = log.find(_SPLIT, end) if end >= 0 else -1
