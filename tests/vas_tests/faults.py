"""Probe jobs that meet faults on a lab's YARN: at named points of `FaultyLustre`, by real kills."""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_core.root import Root
from vas_lab.hadoop.daemons import java
from vas_lab.lab import Lab
from vas_lab.procfs import processes
from vas_tests.attempts import Attempt, attempts, finished_tasks, master_node
from vas_tests.in_lab import inside
from vas_tests.leftovers import command_line, mentioning
from vas_yarn.jobs.events import Event
from vas_yarn.jobs.job import JobResult
from vas_yarn.profiles import SHUFFLE

MAPS = 4
REDUCERS = 4
# A job that takes longer than this to do the next thing hangs, on the busiest machine.
PATIENCE_SECONDS = 400
# MapReduce ends a container that has not ended itself 60 s after its task; ours end at once.
EXIT_SECONDS = 150
# The files of map output, as paths end.
MANIFEST = "/manifest$"
MOF = r"\.mof$"
_WORKLOADS = REPOSITORY / "yarn-plugins" / "workloads" / "target" / "vas-workloads-0.1.0.jar"
_PROBE = (str(_WORKLOADS), "org.vas.workloads.probe.ShuffleProbe")
_SMALL = SHUFFLE | {
    "probe.maps": str(MAPS),
    "probe.records": "20000",
    "mapreduce.job.reduces": str(REDUCERS),
    "mapreduce.map.speculative": "false",
    "mapreduce.reduce.speculative": "false",
    # Reducers begin when all map output is there.
    "mapreduce.job.reduce.slowstart.completedmaps": "1.0",
    # Bad map output is told in these.
    "mapreduce.task.progress-report.interval": "500",
    # The history is read while the application master writes it.
    "mapreduce.jobhistory.jhist.format": "json",
    # How long the application master tries to reach a dead NodeManager to stop a container there,
    # before it begins another attempt; 3 minutes by default.
    "yarn.client.nodemanager-connect.max-wait-ms": "2000",
    "yarn.client.nodemanager-connect.retry-interval-ms": "500",
    # How long a task looks for an application master that is gone; over 3 minutes by default.
    "ipc.client.connect.max.retries": "1",
    "ipc.client.connect.retry.interval": "200",
    "fs.lustre.impl": "org.vas.workloads.fault.FaultyLustre",
}


@dataclass(frozen=True)
class Point:
    """A named point, as org.vas.workloads.fault.FaultPoint explains it.

    `process` and `path` are regular expressions, looked for in a JVM's main class and
    arguments and in the path.
    """

    name: str
    process: str
    call: str
    path: str
    action: str = "hold"
    nth: int = 1

    def __str__(self) -> str:
        words = (self.name, self.process, self.call, self.path, str(self.nth), self.action)
        return " ".join(words)


def attempt(name: str) -> str:
    """The process of a task attempt, `m_000001_0`."""
    return rf"_{name}\b"


@dataclass(frozen=True)
class Held:
    """A process that waits at a point: its id inside the lab, and its node."""

    pid: int
    node: str


@dataclass
class FaultyJob:
    """A probe job that runs beside the test, and what is done to it."""

    lab: Lab
    name: str
    directory: Path
    application: str = ""
    result: JobResult | None = None
    failure: Exception | None = None
    output: list[str] = field(default_factory=list)
    thread: threading.Thread = field(default_factory=threading.Thread)

    def start(self, conf: Mapping[str, str]) -> None:
        """Submits the job in a thread, with these properties."""

        def run() -> None:
            argv = [*_PROBE, f"/faults/{self.name}"]
            try:
                self.result = self.lab.run_job(argv, conf, on_event=self._heard)
            except Exception as error:
                self.failure = error

        self.thread = threading.Thread(target=run, daemon=True)
        self.thread.start()

    def _heard(self, event: Event) -> None:
        if event.kind == "output":
            self.output.append(event.text)
        elif not self.application:
            self.application = event.text.split()[0]

    @property
    def number(self) -> str:
        """The number that the ids of application, job, attempts and containers have in common."""
        return self.application.removeprefix("application_")

    def held(self, point: str) -> Held:
        """Waits until a process is held there."""
        marker = self.directory / point
        poll(lambda: marker.exists() or not self.thread.is_alive(), bool, PATIENCE_SECONDS, point)
        assert marker.exists(), f"the job ended before {point}: {self.failure or self.result}"
        pid, node = marker.read_text().split()
        return Held(int(pid), node)

    def release(self, *points: str) -> None:
        """Lets who is held there, or comes there, go on."""
        for point in points:
            (self.directory / f"{point}.go").touch()

    def kill(self, point: str) -> Held:
        """kill -9 of the one process that is held there."""
        held = self.held(point)
        self.lab.call(["kill", "-9", str(held.pid)])
        return held

    def kill_master(self) -> None:
        """kill -9 of the application master's JVM."""
        (pid,) = (
            process.pid
            for process in processes(Root())
            if (words := command_line(process.pid).split())
            and words[0].endswith("/java")
            and "org.apache.hadoop.mapreduce.v2.app.MRAppMaster" in words
            and any(self.number in word for word in words)
        )
        os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """Waits for the end, whatever it is."""
        self.thread.join(PATIENCE_SECONDS)
        assert not self.thread.is_alive(), f"{self.application} hangs"

    def succeeded(self) -> JobResult:
        """Waits for the end and returns the result. Raises what the job failed with."""
        self.end()
        if self.failure:
            raise self.failure
        assert self.result is not None
        return self.result

    def attempts(self) -> dict[str, Attempt]:
        """The task attempts so far."""
        return attempts(staging(self.lab), self.number)

    def failed(self) -> dict[str, str]:
        """Attempt's name -> its error, of those that failed."""
        return {a.name: a.error for a in self.attempts().values() if a.state == "FAILED"}

    def master_node(self) -> str:
        """Returns the node that the application master runs on."""
        return master_node(staging(self.lab), self.number)

    def output_of(self, name: str) -> Path:
        """The directory of an attempt's map output, seen from outside the lab."""
        (found,) = (path for path in self.outputs() if path.name.endswith(f"_{name}"))
        return found

    def outputs(self) -> list[Path]:
        """Returns the directory of each attempt's map output that is there."""
        return [*staging(self.lab).glob(f"*/.staging/job_{self.number}/shuffle/*")]

    def processes(self) -> list[str]:
        """The command lines of its containers."""
        return mentioning(self.number)

    def tasks(self) -> set[str]:
        """The task attempts whose JVMs live."""
        found = (re.search(rf"attempt_{self.number}_(\w+)", line) for line in self.processes())
        return {match[1] for match in found if match}


def staging(lab: Lab) -> Path:
    """The staging directory, seen from outside the lab."""
    return lab.spec.lustre_state / "data" / "yarn" / "staging"


@contextmanager
def faulty_job(
    lab: Lab, name: str, *points: Point, conf: Mapping[str, str] | None = None
) -> Iterator[FaultyJob]:
    """A probe job beside the body. After the body it has ended and left nothing."""
    job = FaultyJob(lab, name, lab.spec.state_dir / "faults" / name)
    shutil.rmtree(job.directory, ignore_errors=True)
    job.directory.mkdir(parents=True)
    lab.call(["rm", "-rf", str(inside(lab, "faults", name))])
    faults = {"fault.directory": str(job.directory), "fault.points": ";".join(map(str, points))}
    job.start(_SMALL | faults | dict(conf or {}))
    try:
        yield job
        job.end()
        assert_nothing_left(job)
    finally:
        job.release(*(point.name for point in points))
        if job.thread.is_alive() and job.application:
            yarn(lab, "application", "-kill", job.application)
        job.thread.join(PATIENCE_SECONDS)


def assert_nothing_left(job: FaultyJob) -> None:
    """No process of the job, and no map output."""
    poll(job.processes, lambda left: not left, EXIT_SECONDS, f"containers of {job.name} to end")
    poll(job.outputs, lambda left: not left, EXIT_SECONDS, f"the map output of {job.name} to go")


def digests(lab: Lab, name: str) -> dict[str, str]:
    """Output file -> its SHA-256."""
    output = str(inside(lab, "faults", name))
    sums = lab.call(["find", output, "-name", "part-*", "-exec", "sha256sum", "{}", "+"]).stdout
    return {Path(path).name: digest for digest, path in map(str.split, sums.splitlines())}


def yarn(lab: Lab, *arguments: str) -> None:
    """Runs `yarn application` with these arguments in the lab."""
    main = "org.apache.hadoop.yarn.client.cli.ApplicationCLI"
    lab.call(java(lab.spec, ["-Xmx128m", main, *arguments]))


def mapred(lab: Lab, *arguments: str) -> None:
    """Runs `mapred job` with these arguments in the lab."""
    lab.call(java(lab.spec, ["-Xmx128m", "org.apache.hadoop.mapred.JobClient", *arguments]))


def names(kind: str, attempt_number: int) -> set[str]:
    """Every map's (m) or reducer's (r) attempt of that number."""
    count = MAPS if kind == "m" else REDUCERS
    return {f"{kind}_{task:06}_{attempt_number}" for task in range(count)}


def finished(job: FaultyJob, attempts: set[str]) -> None:
    """Waits until these have succeeded, and their tasks have: that is another event, and later."""
    tasks = {name.rpartition("_")[0] for name in attempts}
    poll(
        lambda: states(job, attempts),
        lambda found: found == {"SUCCEEDED"},
        PATIENCE_SECONDS,
        "to succeed: " + ", ".join(sorted(attempts)),
    )
    poll(
        lambda: finished_tasks(staging(job.lab), job.number),
        lambda found: found >= tasks,
        PATIENCE_SECONDS,
        "to be finished: " + ", ".join(sorted(tasks)),
    )


def maps(job: FaultyJob) -> set[str]:
    """The map attempts that have ended."""
    return {name for name in job.attempts() if name[0] == "m"}


def states(job: FaultyJob, attempts: set[str]) -> set[str]:
    """The states of some attempts; "" of one that has not ended."""
    ended = job.attempts()
    return {ended[name].state if name in ended else "" for name in attempts}
