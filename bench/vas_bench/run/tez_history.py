"""The history of jobs that Apache Tez's masters write, in the words of MapReduce's. Pure.

One JSON object an event, as `SimpleHistoryLoggingService` of Tez 0.10 has them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from vas_bench.run.times import JobTimes
from vas_core.errors import VasError
from vas_yarn.history import MapAttempt, ReduceAttempt
from vas_yarn.jobs.job import Counters, JobResult, add_counters

_SEPARATOR = "\u0001"
_GROUP = "org.apache.hadoop.mapreduce.JobCounter"
# Beside these Tez has groups for each edge, with the same counts again.
_OF_EDGES = "TaskCounter_"
_FIRST_VERTEX = "00"


@dataclass(frozen=True)
class TezAttempt:
    """A task's attempt that ended: the number of its vertex, state, times in Unix milliseconds."""

    id: str
    status: str
    start_ms: int
    finish_ms: int
    counters: Counters

    @property
    def is_map(self) -> bool:
        """Tells whether the first vertex ran it: `attempt_TIME_APP_DAG_VERTEX_TASK_ATTEMPT`."""
        return self.id.split("_")[4] == _FIRST_VERTEX

    def count(self, name: str) -> int:
        """Returns a counter by its name."""
        return sum(group.get(name, 0) for group in self.counters.values())


@dataclass(frozen=True)
class TezHistory:
    """One job: when it was submitted and ended, its attempts, the containers that were launched."""

    submit_ms: int
    finish_ms: int
    data_local: int
    containers: int
    attempts: tuple[TezAttempt, ...]

    def job(self, of: JobResult) -> JobResult:
        """Returns the job with its seconds and counters, by the names that MapReduce gives them."""
        maps = [each for each in self.attempts if each.is_map]
        reduces = [each for each in self.attempts if not each.is_map]
        of_maps = _renamed(add_counters(each.counters for each in maps), is_map=True)
        of_reduces = _renamed(add_counters(each.counters for each in reduces), is_map=False)
        of_job = {
            "DATA_LOCAL_MAPS": self.data_local,
            "TOTAL_LAUNCHED_MAPS": len(maps),
            "TOTAL_LAUNCHED_REDUCES": len(reduces),
            "NUM_FAILED_MAPS": _failed(maps),
            "NUM_FAILED_REDUCES": _failed(reduces),
            "CONTAINERS_LAUNCHED": self.containers,
        }
        found = {
            "seconds": (self.finish_ms - self.submit_ms) / 1000,
            "counters": add_counters([of_maps, of_reduces, {_GROUP: of_job}]),
            "map_counters": of_maps,
        }
        return of.model_copy(update=found)

    def times(self) -> JobTimes:
        """Returns the job's times, from which its phases follow."""
        done = [each for each in self.attempts if each.status == "SUCCEEDED"]
        return JobTimes(
            submit_ms=self.submit_ms,
            finish_ms=self.finish_ms,
            maps=[_as_map(each) for each in done if each.is_map],
            reduces=[_as_reduce(each) for each in done if not each.is_map],
        )


def parse(text: str) -> TezHistory | None:
    """Returns the job of a history file; None until its end is in the file.

    A last event that is not whole yet is not there yet. Raises VasError for a history that cannot
    be read.
    """
    try:
        return _job(_events(text))
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as wrong:
        what = f"Tez's history of the job cannot be read: {type(wrong).__name__}: {wrong}"
        raise VasError(what, hint="the run is INVALID: make it again by --resume") from wrong


def _events(text: str) -> list[Mapping[str, Any]]:
    parts = [part for part in text.split(_SEPARATOR) if part.strip()]
    events = [json.loads(part) for part in parts[:-1]]
    with suppress(ValueError):  # it is being written
        events += [json.loads(part) for part in parts[-1:]]
    return events


def _job(events: Sequence[Mapping[str, Any]]) -> TezHistory | None:
    ends = list(_of_kind(events, "DAG_FINISHED"))
    launched = list(_of_kind(events, "AM_LAUNCHED"))
    if not ends or not launched:
        return None
    counters = _counters(ends[-1]["otherinfo"])
    return TezHistory(
        submit_ms=launched[0]["otherinfo"]["appSubmitTime"],
        finish_ms=ends[-1]["otherinfo"]["endTime"],
        data_local=sum(group.get("DATA_LOCAL_TASKS", 0) for group in counters.values()),
        containers=len(list(_of_kind(events, "CONTAINER_LAUNCHED"))),
        attempts=tuple(map(_attempt, _of_kind(events, "TASK_ATTEMPT_FINISHED"))),
    )


def _of_kind(events: Iterable[Mapping[str, Any]], kind: str) -> Iterator[Mapping[str, Any]]:
    for event in events:
        if any(each["eventtype"] == kind for each in event.get("events", [])):
            yield event


def _attempt(event: Mapping[str, Any]) -> TezAttempt:
    told = event["otherinfo"]
    return TezAttempt(
        id=event["entity"],
        status=told["status"],
        start_ms=told["startTime"],
        finish_ms=told["endTime"],
        counters=_counters(told),
    )


def _counters(told: Mapping[str, Any]) -> Counters:
    groups = told.get("counters", {}).get("counterGroups", [])
    return {
        group["counterGroupName"]: {
            each["counterName"]: each["counterValue"] for each in group["counters"]
        }
        for group in groups
        if not group["counterGroupName"].startswith(_OF_EDGES)
    }


def _renamed(counters: Counters, *, is_map: bool) -> Counters:
    total: Counter[str] = Counter()
    for group in counters.values():
        total.update(group)
    if is_map:
        named = {
            "MAP_OUTPUT_BYTES": total["OUTPUT_BYTES"],
            "BYTES_READ": total["LUSTRE_BYTES_READ"],
        }
    else:
        # The rest is read from the disk of its own node, and counted with files.
        by_http = total["SHUFFLE_BYTES"] - total["SHUFFLE_BYTES_DISK_DIRECT"]
        named = {"REDUCE_SHUFFLE_BYTES": max(0, by_http)}
    return {**counters, "MapReduce": {name: value for name, value in named.items() if value}}


def _failed(attempts: Iterable[TezAttempt]) -> int:
    return sum(each.status == "FAILED" for each in attempts)


def _as_map(it: TezAttempt) -> MapAttempt:
    # Where it ran stands in no event that says how it ended.
    return MapAttempt(it.id, it.id, "", "", it.start_ms, it.finish_ms)


def _as_reduce(it: TezAttempt) -> ReduceAttempt:
    # Both are counted from the start of the task's shuffle, which is its own but for its JVM's.
    shuffled = it.start_ms + it.count("SHUFFLE_PHASE_TIME")
    merged = max(shuffled, it.start_ms + it.count("MERGE_PHASE_TIME"))
    return ReduceAttempt(it.id, it.start_ms, shuffled, merged, it.finish_ms)
