"""Names the programs of Hadoop that can be run, and holds the result of a run."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from vas_core.errors import BadInput

SUBMITTED = re.compile(r"Submitted application (application_\d+_\d+)")
"""The line by which Hadoop's client tells the id of an application."""

Counters = dict[str, dict[str, int]]
_JOB_GROUP = "org.apache.hadoop.mapreduce.JobCounter"
_EXAMPLES = "org.apache.hadoop.examples.ExampleDriver"
_DFSIO = "org.apache.hadoop.fs.TestDFSIO"
_SORT_VALIDATOR = "org.apache.hadoop.mapred.SortValidator"
EXAMPLES = (
    "pi",
    "randomtextwriter",
    "randomwriter",
    "secondarysort",
    "sort",
    "teragen",
    "terasort",
    "teravalidate",
    "wordcount",
    "wordmean",
)


PROGRAMS = (*EXAMPLES, "dfsio", "sortvalidator")


class JobResult(BaseModel):
    """The result of a program. A program of several jobs has their sums, and the last one's ids.

    `seconds` is from submission to the end, as YARN's history has it; `client_seconds` the same
    as the client sees it, which asks every 300 ms; `wall_seconds` is the client's whole life;
    `cpu_seconds` is what all processes of the lab used meanwhile, JVM starts, daemons and the
    client included. `map_counters` are those of map tasks alone. `between_tasks_seconds` is the
    median time between two maps of one container; None where no container ran two, and on a
    site, where nobody looks. `printed` are measures that the program itself prints. A job that is
    not MapReduce's is not in its history: it has no counters, and the client's `seconds`.
    """

    model_config = ConfigDict(frozen=True)

    application_id: str
    job_id: str
    state: str
    seconds: float
    client_seconds: float
    wall_seconds: float
    cpu_seconds: float
    counters: Counters
    map_counters: Counters
    between_tasks_seconds: float | None = None
    printed: dict[str, float] = {}

    def counter(self, name: str) -> int:
        """Returns a counter by its name; 0 when it is missing (MapReduce leaves zeros out)."""
        return sum(group.get(name, 0) for group in self.counters.values())

    def map_counter(self, name: str) -> int:
        """Returns a counter of the map tasks alone; 0 when it is missing."""
        return sum(group.get(name, 0) for group in self.map_counters.values())

    @property
    def data_local_maps(self) -> int:
        """The number of maps that ran on a node that was named to YARN as their split's."""
        return self._of_job("DATA_LOCAL_MAPS")

    @property
    def rack_local_maps(self) -> int:
        """The number of maps that ran on another node in the rack of their split's node."""
        return self._of_job("RACK_LOCAL_MAPS")

    @property
    def other_maps(self) -> int:
        """The number of maps that ran anywhere else, or had no node named for their split."""
        return self.total_maps - self.data_local_maps - self.rack_local_maps

    @property
    def total_maps(self) -> int:
        """The number of map attempts that were launched."""
        return self._of_job("TOTAL_LAUNCHED_MAPS")

    def _of_job(self, name: str) -> int:
        return self.counters.get(_JOB_GROUP, {}).get(name, 0)


def program(argv: tuple[str, ...], logs: Path) -> tuple[str, ...]:
    """Returns the main class of `terasort IN OUT`, `dfsio ...` or `FILE.jar ...`, and its words.

    A report that the program writes to a file goes into the directory `logs`. Raises BadInput for
    an unknown program.
    """
    if not argv:
        raise BadInput("no program given", hint=f"one of {', '.join(PROGRAMS)}, or a jar")
    name, arguments = argv[0], argv[1:]
    if name in EXAMPLES:
        return (_EXAMPLES, name, *arguments)
    if name == "dfsio":
        # Its report goes beside the logs, not to whatever directory one is in.
        return (_DFSIO, *arguments, "-resFile", str(logs / "TestDFSIO.txt"))
    if name == "sortvalidator":
        return (_SORT_VALIDATOR, *arguments)
    if name.endswith(".jar") and Path(name).is_file():
        return ("org.apache.hadoop.util.RunJar", str(Path(name).resolve()), *arguments)
    raise BadInput(
        "no such program", where=name, hint=f"one of {', '.join(PROGRAMS)}, or a jar's path"
    )


def add_counters(all_counters: Iterable[Counters]) -> Counters:
    """Returns the sums of sets of counters, counter by counter."""
    total: Counters = {}
    for counters in all_counters:
        for group, values in counters.items():
            sums = total.setdefault(group, {})
            for name, value in values.items():
                sums[name] = sums.get(name, 0) + value
    return total
