"""Plays subjects of `vas bench spark` in a lab, and counts what they do."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from vas_bench.engine.observe import Observation
from vas_bench.results.environment import build_of, lab_versions
from vas_bench.results.record import Validation
from vas_bench.run.lab_watch import below
from vas_bench.spark.application import ROW_BYTES
from vas_bench.spark.arms import APPLICATION, small, submit
from vas_bench.spark.map_files import MapFilesWatch
from vas_bench.spark.output import RowSum, row_sum
from vas_bench.spark.service import shuffle_services
from vas_bench.spark.subjects import KILLED, QUERIES, SparkSubject
from vas_core.errors import VasError
from vas_core.root import Root
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_lab.procfs import processes
from vas_lab.spec import find_java
from vas_lab.state import default_directory
from vas_yarn.jars import find_hadoop, find_spark_jars
from vas_yarn.jobs.trees import inside, remove_tree
from vas_yarn.spark.eventlog import application_seconds, find_event_log, read_stages
from vas_yarn.spark.installation import find_spark

SUITE = Path(__file__).with_name("suite.py")
_DIRECTORY = "/bench-spark"
_OUT = f"{_DIRECTORY}/out"
_SUCCESS = "_SUCCESS"
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class SparkPlace:
    """A lab in which Spark's shuffle service runs on each node; it keeps the data it made."""

    def __init__(self, lab: Lab) -> None:
        self._lab, self._root = lab, Root()
        self._lustre = lab.spec.lustre_state / "data"
        self._expected: dict[str, RowSum] = {}

    @classmethod
    @contextmanager
    def open(cls, hosts: int) -> Iterator[SparkPlace]:
        """Starts a lab of so many hosts, and ends it. Raises VasError if it does not start."""
        options = LabOptions(state_dir=default_directory("bench-spark"), hosts=hosts)
        with Lab.start(options) as lab, shuffle_services(lab):
            yield cls(lab)

    def play(self, subject: SparkSubject) -> Observation:
        """Plays a subject once. Raises VasError if a part of it fails."""
        data = self._data(subject)
        remove_tree(self._lab, _OUT)
        os.sync()
        cpu, layouts, began = self._cpu(), self._lab.metadata_requests(), time.monotonic()
        watch = MapFilesWatch(self._lab.spec.state_dir, self._lustre)
        self._lab.object_requests(counting=True)
        try:
            application, told = self._run(subject, data)
        finally:
            requests = self._lab.object_requests(counting=False)
            watch.stop()
        seconds = time.monotonic() - began
        requests["layouts"] = self._lab.metadata_requests() - layouts
        measures = {
            "client_seconds": seconds,
            "cpu_seconds": self._cpu() - cpu,
            "files_per_map": watch.most_files(application),
            **_requests(requests),
            **_told(told),
            **self._logged(application),
        }
        found = {name: round(float(value), 3) for name, value in measures.items()}
        checksum, wrong = self._check(subject, data, told)
        checked = Validation(ok=not wrong, check="of all rows", checksum=checksum)
        return Observation(found, validation=checked, wrong=wrong)

    def _run(self, subject: SparkSubject, data: str) -> tuple[str, dict[str, Any]]:
        properties = small(subject.hosts) | subject.properties
        if subject.kind == QUERIES:
            words = ["queries", data]
            return submit(self._lab, properties, words, subject.options, SUITE)
        words = ["sort", data, _OUT]
        if subject.kind == KILLED:
            words = ["sort-killing", data, _OUT, str(inside(self._lab, _OUT))]
        return submit(self._lab, properties, words, subject.options)

    def _data(self, subject: SparkSubject) -> str:
        """Returns the directory of a subject's data; makes it where a lab has not kept it."""
        suite = subject.kind == QUERIES
        data = f"{_DIRECTORY}/{'tables' if suite else 'rows'}-{subject.size_bytes}"
        last = "parts/" if suite else ""
        if not (self._lustre / f"{data[1:]}/{last}{_SUCCESS}").exists():
            remove_tree(self._lab, data)
            rows = subject.rows if suite else subject.size_bytes // ROW_BYTES
            words = ("generate", data, str(rows), str(2 * subject.hosts))
            application = SUITE if suite else APPLICATION
            submit(self._lab, small(subject.hosts), words, application=application)
        return data

    def _check(self, subject: SparkSubject, data: str, told: Mapping[str, Any]) -> tuple[str, str]:
        """Returns the checksum of what was made, and what is wrong with it."""
        if subject.kind == QUERIES:
            return str(told["checksum"]), ""
        if data not in self._expected:
            self._expected[data] = row_sum(self._lustre / data[1:])
        found, expected = row_sum(self._lustre / _OUT[1:]), self._expected[data]
        if subject.kind == KILLED and told["killed"] is None:
            return found.checksum, "the sort was over before an executor was killed"
        same = (found.rows, found.checksum) == (expected.rows, expected.checksum)
        right = found.in_order and same
        return found.checksum, "" if right else f"not the sorted input: {found}"

    def _logged(self, application: str) -> dict[str, float]:
        """What the application's event log has of it."""
        directories = self._lustre.glob("yarn/staging/*/.staging/spark-events")
        logs = (find_event_log(directory, application) for directory in directories)
        log = next(filter(None, logs), None)
        if log is None:
            raise VasError("has no event log", where=application)
        again = sum(stage.tasks.total() for stage in read_stages(log) if stage.attempt)
        return {"job_seconds": application_seconds(log), "tasks_again": again}

    def _cpu(self) -> float:
        """CPU seconds of the lab's processes so far, and of those that were started from here."""
        lab = self._lab.running.supervisor
        found = [*processes(self._root)]
        inner = [*below(found, lab), *(each for each in found if each.pid == lab)]
        own = resource.getrusage(resource.RUSAGE_CHILDREN)
        ticks = sum(each.cpu_ticks for each in inner)
        return ticks / _TICKS_PER_SECOND + own.ru_utime + own.ru_stime


def _requests(counted: Mapping[str, int]) -> dict[str, float]:
    """The requests by kind, and all together."""
    by_kind = {f"file_system_requests/{kind}": float(n) for kind, n in counted.items()}
    return {"file_system_requests": float(sum(counted.values())), **by_kind}


def _told(told: Mapping[str, Any]) -> dict[str, float]:
    """What the application measured: its work without its start, and each query."""
    each = {f"wall_seconds/{name}": float(s) for name, s in told.get("each", {}).items()}
    return {"wall_seconds/work": float(told["seconds"]), **each}


def versions() -> dict[str, str]:
    """Returns the versions and builds of what runs. Raises NotHere where something is missing."""
    jars = find_spark_jars()
    core = next(find_spark().jars.glob("spark-core_*.jar")).stem
    builds = {"spark": core.rpartition("-")[2], "jars": build_of(*jars)}
    return lab_versions(find_hadoop(), find_java()) | builds
