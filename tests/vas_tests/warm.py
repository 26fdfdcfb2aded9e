"""Jobs whose containers run one task after another, and their JVMs as seen from outside the lab."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vas_core.root import Root
from vas_lab.lab import Lab
from vas_lab.procfs import processes
from vas_tests.faults import FaultyJob, digests
from vas_tests.in_lab import history
from vas_tests.leftovers import command_line
from vas_yarn.jobs.job import JobResult

MAPS = 12
# One container on each node at a time, for maps and reducers alike.
COLD = {
    "probe.maps": str(MAPS),
    "mapreduce.map.memory.mb": "600",
    "mapreduce.reduce.memory.mb": "600",
    "yarn.app.mapreduce.am.command-opts": "-Xmx300m org.vas.app.VasAppMaster",
    "vas.containers.reuse": "off",
}
# Hadoop's own master. Its options are as long, so that job.xml is, which each task counts.
STOCK = COLD | {"yarn.app.mapreduce.am.command-opts": f"-Xmx300m -Dpadding={14 * 'x'}"}
WARM = COLD | {"vas.containers.reuse": "on"}
# Containers wait until something else than the time ends them.
PATIENT = WARM | {
    "vas.containers.reuse.idle-time": "10m",
    "vas.containers.reuse.max-time": "1h",
}

# Counters of what the machine did, and of what was on the task's own host: no two runs have them
# alike.
_MEASURED = (
    "LUSTRE-",
    "MILLISECONDS",
    "MILLIS",
    "_MEMORY_BYTES",
    "COMMITTED_HEAP",
    "_MS",
    "_MAX",
    "NANOS",
)
# Hadoop's counters of a task's records and their bytes. How often a reduce had to look at files
# depends on what it found there.
_RECORDS = "org.apache.hadoop.mapreduce.TaskCounter"


def jvms(job: FaultyJob) -> Iterator[int]:
    """Yields the ids, outside the lab, of the JVMs that run a job's tasks."""
    for process in processes(Root()):
        words = command_line(process.pid).split()
        if (
            words
            and words[0].endswith("/java")
            and "org.apache.hadoop.mapred.VasChild" in words
            and any(job.number in word for word in words)
        ):
            yield process.pid


def is_held(pid: int, held: int) -> bool:
    """Tells whether `pid` is the process that the lab's own namespace knows as `held`.

    A process that has ended is not.
    """
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False
    (line,) = (line for line in status.splitlines() if line.startswith("NSpid:"))
    # The last one: another process may have the same number outside.
    return line.split()[-1] == str(held)


def command(lab: Lab, name: str, *words: str) -> str:
    """Runs a class below `org.apache.hadoop` by the lab's `hadoop`; returns what it printed.

    Raises CommandFailed if its status is not 0.
    """
    return lab.call(["hadoop", f"org.apache.hadoop.{name}", *words]).stdout


def attempts(lab: Lab, job: JobResult) -> dict[str, dict[str, Any]]:
    """A job's attempts as the history server has them, by id."""
    path = f"mapreduce/jobs/{job.job_id}/tasks"
    found: dict[str, dict[str, int]] = {}
    for task in history(lab, path)["tasks"]["task"]:
        listed = history(lab, f"{path}/{task['id']}/attempts")["taskAttempts"]["taskAttempt"]
        found |= {each["id"]: each for each in as_list(listed)}
    return found


def counters(lab: Lab, job: JobResult, groups: str = "") -> dict[str, dict[str, int]]:
    """The counters of each task, by the end of its id: those of groups that begin so."""
    path = f"mapreduce/jobs/{job.job_id}/tasks"
    found: dict[str, dict[str, int]] = {}
    for task in history(lab, path)["tasks"]["task"]:
        listed = history(lab, f"{path}/{task['id']}/counters")["jobTaskCounters"]
        found[task["id"].split("_", 3)[3]] = {
            counter["name"]: counter["value"]
            for group in as_list(listed["taskCounterGroup"])
            if group["counterGroupName"].startswith(groups)
            for counter in as_list(group["counter"])
        }
    return found


def as_list(found: Any) -> list[Any]:
    """Hadoop writes a list of one as that one."""
    return found if isinstance(found, list) else [found]


JobCounters = Mapping[str, Mapping[str, int]]


def assert_counted_alike(found: JobCounters, expected: JobCounters, *besides: str) -> None:
    """Asserts that each task counted what it did in another run of the job, but for what is
    measured, and `besides`."""
    assert found.keys() == expected.keys()
    different = {
        f"{task} {name}": (found[task].get(name, 0), counted.get(name, 0))
        for task, counted in expected.items()
        for name in counted.keys() | found[task].keys()
        if name not in besides and not any(part in name for part in _MEASURED)
        if found[task].get(name, 0) != counted.get(name, 0)
    }
    assert not different, different
    assert min(value for counted in found.values() for value in counted.values()) >= 0


def assert_cpu_is_each_task_s_own(lab: Lab, job: JobResult) -> None:
    """Asserts that a job, some of whose containers ran several tasks, counted the CPU of each task
    from its own begin.

    Else no task would have less CPU than the one before it in its container. With it the first has
    most, as it pays for the JVM's start.
    """
    counted, ran = counters(lab, job, _RECORDS), attempts(lab, job)
    containers: dict[str, list[int]] = {}
    for name, each in sorted(ran.items(), key=lambda item: item[1]["startTime"]):
        if each["state"] == "SUCCEEDED":
            task, _, _ = name.split("_", 3)[3].rpartition("_")
            cpu = containers.setdefault(each["assignedContainerId"], [])
            cpu.append(counted[task]["CPU_MILLISECONDS"])
    assert any(cpu != sorted(cpu) for cpu in containers.values()), containers


def is_of_a_used_jvm(found: Mapping[str, Mapping[str, Any]], name: str) -> bool:
    """Tells whether another attempt of these, a job's, ran before in an attempt's container."""
    (it,) = (each for each_name, each in found.items() if each_name.endswith(f"_{name}"))
    return any(
        other["assignedContainerId"] == it["assignedContainerId"]
        and other["startTime"] < it["startTime"]
        for other in found.values()
    )


@dataclass(frozen=True)
class ExpectedJob:
    """A job whose tasks had a JVM each: its output, file -> SHA-256, and the counters of each
    task."""

    lab: Lab
    output: dict[str, str]
    counters: JobCounters

    @classmethod
    def of(cls, job: FaultyJob) -> ExpectedJob:
        """Waits until the job has ended. Raises what it failed with."""
        result = job.succeeded()
        return cls(job.lab, digests(job.lab, job.name), counters(job.lab, result, _RECORDS))

    def check(self, job: FaultyJob, *, reused: bool = True) -> None:
        """Asserts that a job, which has ended, wrote the same bytes, and that its tasks counted the
        same; and, if `reused`, that its last master used containers again."""
        assert digests(self.lab, job.name) == self.output
        if reused:
            assert job.succeeded().counter("CONTAINERS_REUSED") > 0
            assert_cpu_is_each_task_s_own(self.lab, job.succeeded())
        found = counters(self.lab, job.succeeded(), _RECORDS)
        # A reduce counts there that an output was not what it should be.
        assert_counted_alike(found, self.counters, "FAILED_SHUFFLE")
