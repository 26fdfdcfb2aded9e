"""Probe jobs that meet faults on a lab's YARN: at named points of `FaultyLustre`, by real kills."""

from __future__ import annotations

import os
import re
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_core.root import Root
from vas_lab.hadoop.daemons import java
from vas_lab.lab import Lab
from vas_lab.procfs import processes
from vas_tests.attempts import Attempt, attempts, finished_tasks, master_node
from vas_tests.in_lab import inside, resource_manager
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
    """Returns the regular expression for the process of a task attempt like `m_000001_0`."""
    return rf"_{name}\b"


@dataclass(frozen=True)
class Held:
    """A process that waits at a point: its id inside the lab, and its node."""

    pid: int
    node: str


@dataclass
class FaultyJob:
    """A probe job that runs while the test goes on, and the faults that the test causes in it."""

    lab: Lab
    name: str
    directory: Path
    application: str = ""
    result: JobResult | None = None
    failure: Exception | None = None
    output: list[str] = field(default_factory=list)
    thread: threading.Thread = field(default_factory=threading.Thread)

    def start(self, conf: Mapping[str, str]) -> None:
        """Submits the job in a thread with these properties, and returns at once."""

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
        """Returns the number that the ids of application, job and containers have in common."""
        return self.application.removeprefix("application_")

    def held(self, point: str) -> Held:
        """Waits until a process is held at a point, and returns it.

        Raises AssertionError if the job ends before, VasError after PATIENCE_SECONDS.
        """
        marker = self.directory / point
        poll(lambda: marker.exists() or not self.thread.is_alive(), bool, PATIENCE_SECONDS, point)
        assert marker.exists(), f"the job ended before {point}: {self.failure or self.result}"
        pid, node = marker.read_text().split()
        return Held(int(pid), node)

    def release(self, *points: str) -> None:
        """Lets processes go on that are held at these points, or will come to them."""
        for point in points:
            (self.directory / f"{point}.go").touch()

    def kill(self, point: str) -> Held:
        """Waits for the process that is held at a point, kills it by SIGKILL, and returns it."""
        held = self.held(point)
        self.lab.call(["kill", "-9", str(held.pid)])
        return held

    def kill_master(self) -> None:
        """Kills the JVM of the application master by SIGKILL."""
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
        """Waits until the job has ended, failed or not. Raises AssertionError if it hangs."""
        self.thread.join(PATIENCE_SECONDS)
        assert not self.thread.is_alive(), f"{self.application} hangs"

    def succeeded(self) -> JobResult:
        """Waits until the job has ended and returns its result. Raises what it failed with."""
        self.end()
        if self.failure:
            raise self.failure
        assert self.result is not None
        return self.result

    def attempts(self) -> dict[str, Attempt]:
        """Returns name -> attempt, of the task attempts that have ended so far."""
        return attempts(staging(self.lab), self.number)

    def failed(self) -> dict[str, str]:
        """Returns name -> error, of the task attempts that have failed so far."""
        return {a.name: a.error for a in self.attempts().values() if a.state == "FAILED"}

    def master_node(self) -> str:
        """Returns the node that the application master runs on."""
        return master_node(staging(self.lab), self.number)

    def output_of(self, name: str) -> Path:
        """Returns the directory of an attempt's map output, as a path outside the lab.

        Raises ValueError unless there is exactly one.
        """
        (found,) = (path for path in self.outputs() if path.name.endswith(f"_{name}"))
        return found

    def outputs(self) -> list[Path]:
        """Returns the directories of map output that exist, as paths outside the lab."""
        while True:
            # Python 3.11's glob raises this for a directory that is removed while it looks.
            with suppress(FileNotFoundError):
                return [*staging(self.lab).glob(f"*/.staging/job_{self.number}/shuffle/*")]

    def processes(self) -> list[str]:
        """Returns the command lines of the job's containers that run."""
        return mentioning(self.number)

    def tasks(self) -> set[str]:
        """Returns the names of the task attempts whose JVMs run."""
        found = (re.search(rf"attempt_{self.number}_(\w+)", line) for line in self.processes())
        return {match[1] for match in found if match}


def staging(lab: Lab) -> Path:
    """Returns YARN's staging directory of a lab, as a path outside the lab."""
    return lab.spec.lustre_state / "data" / "yarn" / "staging"


@contextmanager
def faulty_job(
    lab: Lab, name: str, *points: Point, conf: Mapping[str, str] | None = None
) -> Iterator[FaultyJob]:
    """Runs a probe job with these fault points while the body runs.

    After the body it waits until the job has ended, and asserts that nothing of it is left.
    """
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
    """Waits until no process and no map output of a job is left. Raises VasError if some stay."""
    poll(job.processes, lambda left: not left, EXIT_SECONDS, f"containers of {job.name} to end")
    poll(job.outputs, lambda left: not left, EXIT_SECONDS, f"the map output of {job.name} to go")


def logs_kept(lab: Lab, application: str) -> None:
    """Waits until YARN has gathered all logs of an application: some seconds after its end.

    Raises VasError after PATIENCE_SECONDS.
    """
    poll(
        lambda: resource_manager(lab, f"apps/{application}")["app"]["logAggregationStatus"],
        lambda status: status == "SUCCEEDED",
        PATIENCE_SECONDS,
        f"the logs of {application} to be kept",
    )


def digests(lab: Lab, name: str) -> dict[str, str]:
    """Returns name -> SHA-256, of the output files of the probe job with this name."""
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
    """Returns the names that attempts of this number have, of all maps (m) or all reducers (r)."""
    count = MAPS if kind == "m" else REDUCERS
    return {f"{kind}_{task:06}_{attempt_number}" for task in range(count)}


def finished(job: FaultyJob, attempts: set[str]) -> None:
    """Waits until these attempts have succeeded, and then until their tasks have finished.

    A task's end is a later event in the job's history than its attempt's. Raises VasError after
    PATIENCE_SECONDS.
    """
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
    """Returns the names of the map attempts that have ended."""
    return {name for name in job.attempts() if name[0] == "m"}


def states(job: FaultyJob, attempts: set[str]) -> set[str]:
    """Returns the states that these attempts have; the empty word for one that has not ended."""
    ended = job.attempts()
    return {ended[name].state if name in ended else "" for name in attempts}
