"""The task attempts of a job, from the history that its application master writes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_PREFIX = "org.apache.hadoop.mapreduce.jobhistory."
_UNSUCCESSFUL = f"{_PREFIX}TaskAttemptUnsuccessfulCompletion"
_FINISHED = (f"{_PREFIX}MapAttemptFinished", f"{_PREFIX}ReduceAttemptFinished")
_STARTED = f"{_PREFIX}TaskAttemptStarted"
_TASK_FINISHED = f"{_PREFIX}TaskFinished"


@dataclass(frozen=True)
class Attempt:
    """A task attempt that has ended; `name` is like m_000001_0, `error` empty if it succeeded."""

    name: str
    state: str
    node: str
    error: str


def attempts(staging: Path, number: str) -> dict[str, Attempt]:
    """Returns name -> attempt, of a job's task attempts that have ended.

    `staging` is the staging directory, `number` the number in the job's id.
    """
    found: dict[str, Attempt] = {}
    for kind, event in _events(_latest(staging, number)):
        if kind == _UNSUCCESSFUL or kind in _FINISHED:
            name = event["attemptId"].removeprefix(f"attempt_{number}_")
            state = event["status"] if kind == _UNSUCCESSFUL else "SUCCEEDED"
            found[name] = Attempt(name, state, event["hostname"], event.get("error", ""))
    return found


def finished_tasks(staging: Path, number: str) -> set[str]:
    """Returns a job's finished tasks, like m_000001.

    Another application master would not run them again.
    """
    return {
        event["taskid"].removeprefix(f"task_{number}_")
        for kind, event in _events(_latest(staging, number))
        if kind == _TASK_FINISHED
    }


def containers(staging: Path, number: str) -> set[str]:
    """Returns the ids of the containers in which a job's task attempts ran."""
    events = _events(_latest(staging, number))
    return {event["containerId"] for kind, event in events if kind == _STARTED}


def master_node(staging: Path, number: str) -> str:
    """Returns the node of a job's last application master. Raises IndexError if none started."""
    started = f"{_PREFIX}AMStarted"
    nodes = [
        e["nodeManagerHost"] for kind, e in _events(_latest(staging, number)) if kind == started
    ]
    return str(nodes[-1])


def _latest(staging: Path, number: str) -> str:
    """The history of the last application master, wherever it is on its way to the archive."""
    # In the order of that way: what moves between two looks is found by the later one.
    places = (
        (staging, f"*/.staging/job_{number}/job_{number}_*.jhist"),
        (staging / "history/done_intermediate", f"*/job_{number}-*.jhist"),
        (staging / "history/done", f"**/job_{number}-*.jhist"),
    )
    while True:
        # It may be moved meanwhile, and the job's directory removed.
        with suppress(FileNotFoundError):
            files = [path for place, pattern in places for path in place.glob(pattern)]
            newest = max(files, key=lambda path: path.stat().st_mtime, default=None)
            return newest.read_text() if newest else ""


def _events(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for line in text.splitlines():
        # The first lines are a name and a schema, the last one may not be whole.
        with suppress(ValueError):
            document = json.loads(line)
            if "event" in document:
                yield from document["event"].items()
