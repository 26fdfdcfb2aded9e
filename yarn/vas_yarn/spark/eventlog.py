"""Reads from Spark's event log where an application's tasks ran."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from vas_core.errors import BadInput

_TASK, _STAGE = "SparkListenerTaskEnd", "SparkListenerStageCompleted"
_START, _END = "SparkListenerApplicationStart", "SparkListenerApplicationEnd"
_FIRST = '{"Event":"SparkListener'
# Characters. Spark's own lines are shorter.
_LONGEST_LINE = 64 << 20
_MOST = (1 << 63) - 1
PLACES = ("NODE_LOCAL", "RACK_LOCAL", "ANY")
"""Spark's words for a task that had a place to be: there, in its rack, elsewhere."""


@dataclass
class SparkStage:
    """A stage of an application: its tasks that succeeded, by Spark's word for where they ran.

    `read` and `read_local`: bytes of input, and those of tasks that ran where their data was.
    """

    number: int
    attempt: int
    name: str = ""
    tasks: Counter[str] = field(default_factory=Counter)
    hosts: Counter[str] = field(default_factory=Counter)
    read: int = 0
    read_local: int = 0

    @property
    def placed(self) -> int:
        """Returns how many tasks had a place to be."""
        return sum(self.tasks[place] for place in PLACES)

    def as_json(self) -> dict[str, object]:
        """Returns the stage as `vas job locality --json` prints it."""
        return {
            "stage": self.number,
            "attempt": self.attempt,
            "name": self.name,
            "tasks": dict(self.tasks),
            "hosts": dict(self.hosts),
            "input_bytes": self.read,
            "node_local_input_bytes": self.read_local,
        }


def find_event_log(directory: Path, application: str) -> Path | None:
    """Returns an application's newest event log in a directory, whole or still written; or None.

    Raises BadInput where it is compressed, or in several files: Spark's keys choose that.
    """
    names = [path.name for path in directory.iterdir()] if directory.is_dir() else []
    attempt = rf"{re.escape(application)}(_\d+)?"
    plain = re.compile(rf"{attempt}(\.inprogress)?")
    found = [directory / name for name in names if plain.fullmatch(name)]
    if logs := [path for path in found if path.is_file() and not path.is_symlink()]:
        return max(logs, key=lambda path: path.stat().st_mtime)
    other = re.compile(rf"eventlog_v2_{attempt}|{attempt}\.\w+(\.inprogress)?")
    if strange := next(filter(other.fullmatch, names), None):
        hint = "run it with spark.eventLog.compress and spark.eventLog.rolling.enabled false"
        where = str(directory / strange)
        raise BadInput("is compressed, or in several files", where=where, hint=hint)
    return None


def read_stages(log: Path) -> list[SparkStage]:
    """Returns the stages of an event log, in order. Raises BadInput for another file.

    A last line that is not whole, as of an application that still runs, is left out.
    """
    with log.open(encoding="utf-8", errors="replace") as lines:
        first = lines.readline(len(_FIRST))
        if first and first != _FIRST:
            raise BadInput("is not a file that Spark wrote as an event log", where=str(log))
        lines.seek(0)
        return _stages(_events(lines, log))


def application_seconds(log: Path) -> float:
    """Returns an application's seconds from the start of its context to its end.

    Raises BadInput for a log without both.
    """
    times: dict[str, int] = {}
    with log.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            for name in (_START, _END):
                if line.startswith(f'{{"Event":"{name}"'):
                    times[name] = int(json.loads(line)["Timestamp"])
    if len(times) < 2:
        raise BadInput("has no start or no end of an application", where=str(log))
    return (times[_END] - times[_START]) / 1000


def _events(log: TextIO, path: Path) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(_lines(log), 1):
        # Most events are of no use here, and some are long.
        if _TASK not in line[:100] and _STAGE not in line[:100]:
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError) as wrong:
            if not line.endswith("\n"):
                return
            raise BadInput("is not JSON", where=f"{path}:{number}") from wrong
        if isinstance(event, dict):
            yield event


def _lines(log: TextIO) -> Iterator[str]:
    """Yields each line, and an empty one for a line that is too long to be held in memory."""
    while line := log.readline(_LONGEST_LINE):
        part = line
        while len(part) == _LONGEST_LINE and not part.endswith("\n"):
            line, part = "", log.readline(_LONGEST_LINE)
        yield line


def _stages(events: Iterable[dict[str, Any]]) -> list[SparkStage]:
    stages: dict[tuple[int, int], SparkStage] = {}

    def of(number: int, attempt: int) -> SparkStage:
        return stages.setdefault((number, attempt), SparkStage(number, attempt))

    for event in events:
        if event.get("Event") == _STAGE:
            told = _part(event, "Stage Info")
            of(_number(told, "Stage ID", -1), _number(told, "Stage Attempt ID")).name = str(
                told.get("Stage Name", "")
            )
        elif _part(event, "Task End Reason").get("Reason") == "Success":
            _count(of(_number(event, "Stage ID", -1), _number(event, "Stage Attempt ID")), event)
    return [stages[key] for key in sorted(stages)]


def _count(stage: SparkStage, event: dict[str, Any]) -> None:
    told = _part(event, "Task Info")
    place = str(told.get("Locality", "UNKNOWN"))
    stage.tasks[place] += 1
    stage.hosts[str(told.get("Host", ""))] += 1
    read = _number(_part(_part(event, "Task Metrics"), "Input Metrics"), "Bytes Read")
    stage.read += read
    stage.read_local += read if place == PLACES[0] else 0


def _part(event: dict[str, Any], key: str) -> dict[str, Any]:
    """The object with this key; an empty one where there is none, or something else."""
    found = event.get(key)
    return found if isinstance(found, dict) else {}


def _number(told: dict[str, Any], key: str, otherwise: int = 0) -> int:
    """The number with this key, if it is one that Spark's types can hold."""
    found = told.get(key)
    return found if isinstance(found, int) and abs(found) <= _MOST else otherwise
