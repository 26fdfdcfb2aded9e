"""Containers that run one task after another, on the lab's real YARN.

Whatever happens to a JVM, the output is that of a job whose tasks have a JVM each.
"""

from __future__ import annotations

import os
import shutil
import signal
from typing import Any

import pytest

from vas_core.polling import poll
from vas_lab.lab import Lab
from vas_tests.debugger import LISTENS, debugging
from vas_tests.faults import (
    MANIFEST,
    PATIENCE_SECONDS,
    REDUCERS,
    FaultyJob,
    Point,
    attempt,
    digests,
    faulty_job,
    finished,
    maps,
)
from vas_tests.in_lab import history
from vas_tests.warm import COLD, MAPS, PATIENT, STOCK, WARM, command, is_held, jvms
from vas_yarn.jobs.job import JobResult

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]

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


@pytest.fixture(scope="module")
def cold(lab: Lab) -> JobResult:
    """The job with Hadoop's own master, and a JVM for each task."""
    with faulty_job(lab, "cold", conf=STOCK) as job:
        return job.succeeded()


@pytest.fixture(scope="module")
def output(lab: Lab, cold: JobResult) -> dict[str, str]:
    """Its output: file -> SHA-256."""
    found = digests(lab, "cold")
    assert cold.total_maps == MAPS
    assert len(found) == REDUCERS
    return found


@pytest.fixture(scope="module")
def warm(lab: Lab, output: dict[str, str]) -> JobResult:
    """The job in containers that are used again; its output is the same."""
    with faulty_job(lab, "warm", conf=WARM) as job:
        result = job.succeeded()
    assert digests(lab, "warm") == output
    return result


def attempts(lab: Lab, job: JobResult) -> dict[str, dict[str, Any]]:
    """A job's attempts as the history server has them, by id."""
    path = f"mapreduce/jobs/{job.job_id}/tasks"
    found = {}
    for task in history(lab, path)["tasks"]["task"]:
        listed = history(lab, f"{path}/{task['id']}/attempts")["taskAttempts"]["taskAttempt"]
        found |= {each["id"]: each for each in as_list(listed)}
    return found


def counters(lab: Lab, job: JobResult) -> dict[str, dict[str, int]]:
    """The counters of each task, by the end of its id, without those of time and memory."""
    path = f"mapreduce/jobs/{job.job_id}/tasks"
    found = {}
    for task in history(lab, path)["tasks"]["task"]:
        groups = history(lab, f"{path}/{task['id']}/counters")["jobTaskCounters"]
        found[task["id"].split("_", 3)[3]] = {
            counter["name"]: counter["value"]
            for group in as_list(groups["taskCounterGroup"])
            for counter in as_list(group["counter"])
        }
    return found


def as_list(found: Any) -> list[Any]:
    """Hadoop writes a list of one as that one."""
    return found if isinstance(found, list) else [found]


def test_a_container_runs_several_tasks(lab: Lab, warm: JobResult) -> None:
    containers = [each["assignedContainerId"] for each in attempts(lab, warm).values()]
    assert len(containers) == MAPS + REDUCERS
    assert len(set(containers)) <= 6


def test_each_task_counts_what_it_counts_alone(lab: Lab, cold: JobResult, warm: JobResult) -> None:
    alone, together = counters(lab, cold), counters(lab, warm)
    assert alone.keys() == together.keys()
    for task, expected in alone.items():
        found = together[task]
        for name in expected.keys() | found.keys():
            # Each task writes its job.xml, in which `on` is a letter shorter than `off`.
            shorter = 1 if name == "FILE_BYTES_WRITTEN" else 0
            if not any(part in name for part in _MEASURED):
                assert found.get(name, 0) + shorter == expected.get(name, 0), (task, name)
        assert min(found.values()) >= 0
    # A baseline that was not set again would count earlier tasks' time too.
    used = [sum(each["CPU_MILLISECONDS"] for each in job.values()) for job in (alone, together)]
    assert used[1] <= 1.2 * used[0]


def test_each_attempt_has_logs_of_its_own(lab: Lab, warm: JobResult) -> None:
    found = attempts(lab, warm)
    for name in found:
        text = log_of(lab, found, name, "syslog")
        assert f"Task '{name}' done." in text
        others = [other for other in found if other != name and f"Task '{other}' done." in text]
        assert others == []


def test_each_reduce_has_a_shuffle_log_of_its_own(lab: Lab, output: dict[str, str]) -> None:
    conf = WARM | {"vas.shuffle.enabled": "false"}
    with faulty_job(lab, "warm-stock", conf=conf) as job:
        result = job.succeeded()
    assert digests(lab, "warm-stock") == output
    found = attempts(lab, result)
    reduces = [name for name in found if "_r_" in name]
    for name in reduces:
        text = log_of(lab, found, name, "syslog.shuffle")
        assert [each for each in reduces if f"{each}: Got " in text] == [name]


def log_of(lab: Lab, found: dict[str, dict[str, Any]], name: str, file: str) -> str:
    """A log of an attempt: only the first one of a container has it without its name."""
    container = found[name]["assignedContainerId"]
    here = [other for other in found if found[other]["assignedContainerId"] == container]
    first = min(here, key=lambda other: found[other]["startTime"])
    return log(lab, container, file if first == name else f"{file}-{name}")


def test_the_commands_print_the_logs_of_each_attempt(lab: Lab, warm: JobResult) -> None:
    whole = command(lab, "yarn.client.cli.LogsCLI", "-applicationId", warm.application_id)
    for name, each in attempts(lab, warm).items():
        done = f"Task '{name}' done."
        assert done in whole
        assert done in command(lab, "mapred.JobClient", "-logs", warm.job_id, name)
        assert f"Container: {each['assignedContainerId']} " in whole


def log(lab: Lab, container: str, file: str) -> str:
    """A file of a container's logs, as the history server shows it."""
    manager = lab.spec.cluster.yarn.resourcemanager.name
    url = f"http://{manager}:19888/ws/v1/history/containerlogs/{container}/{file}"
    return lab.call(["curl", "-sSf", url]).stdout


def test_off_gives_each_task_a_container(lab: Lab, output: dict[str, str]) -> None:
    with faulty_job(lab, "warm-off", conf=COLD) as job:
        result = job.succeeded()
    assert digests(lab, "warm-off") == output
    containers = {each["assignedContainerId"] for each in attempts(lab, result).values()}
    assert len(containers) == MAPS + REDUCERS


def test_the_history_server_shows_of_each_task_what_it_shows_of_stock(
    lab: Lab, cold: JobResult, warm: JobResult
) -> None:
    stock, reused = shown(lab, cold), shown(lab, warm)
    assert stock["attempts"].keys() == reused["attempts"].keys()
    assert stock == reused


def shown(lab: Lab, job: JobResult) -> dict[str, Any]:
    """Returns what the history server shows of a job and its tasks, without times and places."""
    path = f"mapreduce/jobs/{job.job_id}"
    tasks = history(lab, f"{path}/tasks")["tasks"]["task"]
    groups = history(lab, f"{path}/counters")["jobCounters"]["counterGroup"]
    return {
        "job": steady(history(lab, path)["job"], job),
        "tasks": {steady(each["id"], job): steady(each, job) for each in tasks},
        "attempts": {steady(n, job): steady(e, job) for n, e in attempts(lab, job).items()},
        "counters": {
            group["counterGroupName"]: sorted(each["name"] for each in as_list(group["counter"]))
            for group in groups
            # Its own group is all that a job in containers used again has besides.
            if not group["counterGroupName"].startswith("org.vas.app.")
        },
    }


def steady(value: Any, job: JobResult) -> Any:
    """A value without what changes from run to run; of that the fields' names are left."""
    if isinstance(value, dict):
        changing = ("Time", "Address", "Container", "ContainerId", "rack", "name")
        return {
            key: "..." if key.endswith(changing) else steady(each, job)
            for key, each in value.items()
        }
    return value.replace(job.job_id.removeprefix("job"), "") if isinstance(value, str) else value


def test_auto_gives_tasks_of_the_jobs_own_jar_a_container_each(
    lab: Lab, output: dict[str, str]
) -> None:
    with faulty_job(lab, "warm-auto", conf=WARM | {"vas.containers.reuse": "auto"}) as job:
        result = job.succeeded()
    assert digests(lab, "warm-auto") == output
    containers = {each["assignedContainerId"] for each in attempts(lab, result).values()}
    assert len(containers) == MAPS + REDUCERS
    text = command(lab, "yarn.client.cli.LogsCLI", "-applicationId", result.application_id)
    assert " of the job's own files, not of the nodes'" in text


def test_a_jvm_killed_in_its_second_task_costs_that_attempt_alone(
    lab: Lab, output: dict[str, str]
) -> None:
    point = Point("second", "VasChild", "rename", f"m_000009_0.*{MANIFEST}")
    with faulty_job(lab, "warm-killed", point, conf=WARM) as job:
        job.kill("second")
        job.succeeded()
        assert set(job.failed()) == {"m_000009_0"}
    assert digests(lab, "warm-killed") == output


_FIRST = Point("first", "VasChild", "rename", f"m_000000_0.*{MANIFEST}")


def kill_first_jvm_in(job: FaultyJob, method: str) -> None:
    """Kills the JVM that `_FIRST` holds as it enters a method behind its task, by a debugger."""
    held = job.held("first")
    (pid,) = (each for each in jvms(job) if is_held(each, held.pid))
    with debugging(pid) as debugger:
        debugger.stop_in(f"org.apache.hadoop.mapred.{method}")
        job.release("first")
        debugger.stopped()
        os.kill(pid, signal.SIGKILL)


def test_a_task_whose_jvm_is_killed_as_it_takes_it_is_not_to_blame(
    lab: Lab, output: dict[str, str]
) -> None:
    # One map at a time: the JVM that is held cannot find all the others' work done.
    conf = WARM | {"mapreduce.map.java.opts": LISTENS, "mapreduce.job.running.map.limit": "1"}
    with faulty_job(lab, "warm-handed", _FIRST, conf=conf) as job:
        kill_first_jvm_in(job, "TaskLogs.begin")
        job.succeeded()
        assert job.failed() == {}
        (taken,) = (each for each in maps(job) if job.attempts()[each].state == "KILLED")
        assert "Exit code is 137" in job.attempts()[taken].error
        assert job.attempts()[taken.removesuffix("_0") + "_1"].state == "SUCCEEDED"
    assert digests(lab, "warm-handed") == output


def test_a_jvm_that_dies_between_two_tasks_fails_no_attempt(
    lab: Lab, output: dict[str, str]
) -> None:
    conf = WARM | {"mapreduce.map.java.opts": LISTENS, "mapreduce.job.running.map.limit": "1"}
    with faulty_job(lab, "warm-between", _FIRST, conf=conf) as job:
        kill_first_jvm_in(job, "JvmState.restore")
        job.succeeded()
        assert job.failed() == {}
        assert all(name.endswith("_0") for name in job.attempts())
    assert digests(lab, "warm-between") == output


def test_a_task_that_hangs_in_a_used_jvm_times_out_alone(lab: Lab, output: dict[str, str]) -> None:
    conf = WARM | {"mapreduce.task.timeout": "10000"}
    point = Point("hangs", "VasChild", "rename", f"m_000009_0.*{MANIFEST}")
    with faulty_job(lab, "warm-hangs", point, conf=conf) as job:
        job.held("hangs")
        job.succeeded()
        assert set(job.failed()) == {"m_000009_0"}
        assert "taskTimedOut: true" in job.failed()["m_000009_0"]
    assert digests(lab, "warm-hangs") == output


def test_a_task_that_exits_costs_its_own_attempt_alone(lab: Lab, output: dict[str, str]) -> None:
    point = Point("exits", "VasChild", "rename", f"m_000009_0.*{MANIFEST}", action="exit:7")
    with faulty_job(lab, "warm-exits", point, conf=WARM) as job:
        job.succeeded()
        assert set(job.failed()) == {"m_000009_0"}
        assert "Exit code: 7" in job.failed()["m_000009_0"]
    assert digests(lab, "warm-exits") == output


def test_a_jvm_whose_task_left_a_thread_ends_and_the_reason_is_counted(
    lab: Lab, output: dict[str, str]
) -> None:
    point = Point("leaves", "VasChild", "rename", f"m_000000_0.*{MANIFEST}", action="thread")
    with faulty_job(lab, "warm-thread", point, conf=WARM) as job:
        assert job.succeeded().counter("JVMS_ENDED_THREADS") == 1
        assert job.failed() == {}
    found = attempts(lab, job.succeeded())
    (left,) = [each for name, each in found.items() if name.endswith("m_000000_0")]
    same = [e for e in found.values() if e["assignedContainerId"] == left["assignedContainerId"]]
    assert max(each["startTime"] for each in same) == left["startTime"]
    assert digests(lab, "warm-thread") == output


def test_a_lost_output_of_a_jvm_that_was_used_again_is_made_again(
    lab: Lab, output: dict[str, str]
) -> None:
    point = Point("reads", "VasChild", "open", f"m_000009_0.*{MANIFEST}")
    with faulty_job(lab, "warm-lost", point, conf=WARM) as job:
        job.held("reads")
        shutil.rmtree(job.output_of("m_000009_0"))
        job.release("reads")
        job.succeeded()
        again = {name for name in job.attempts() if name[0] == "m" and name[-1] != "0"}
        assert again == {"m_000009_1"}
    assert digests(lab, "warm-lost") == output


def test_jvms_killed_while_they_wait_fail_no_attempt(lab: Lab, output: dict[str, str]) -> None:
    point = Point("last", "VasChild", "rename", f"m_000011_0.*{MANIFEST}")
    with faulty_job(lab, "warm-idle", point, conf=PATIENT) as job:
        held = job.held("last")
        finished(job, {f"m_{task:06}_0" for task in range(MAPS - 1)})
        waiting = [pid for pid in jvms(job) if not is_held(pid, held.pid)]
        assert waiting
        for pid in waiting:
            os.kill(pid, signal.SIGKILL)
        job.release("last")
        job.succeeded()
        assert job.failed() == {}
    assert digests(lab, "warm-idle") == output


def test_jvms_that_hang_while_they_wait_are_ended_and_get_no_task(
    lab: Lab, output: dict[str, str]
) -> None:
    point = Point("last", "VasChild", "rename", f"m_000011_0.*{MANIFEST}")
    with faulty_job(lab, "warm-hung", point, conf=PATIENT) as job:
        held = job.held("last")
        finished(job, {f"m_{task:06}_0" for task in range(MAPS - 1)})
        waiting = {pid for pid in jvms(job) if not is_held(pid, held.pid)}
        assert waiting
        for pid in waiting:
            os.kill(pid, signal.SIGSTOP)
        poll(lambda: waiting & set(jvms(job)), lambda left: not left, PATIENCE_SECONDS, "their end")
        job.release("last")
        job.succeeded()
        assert job.failed() == {}
        assert all(name.endswith("_0") for name in job.attempts())
    assert digests(lab, "warm-hung") == output


def test_a_slow_attempt_is_overtaken_in_a_jvm_that_waited_and_stopped(
    lab: Lab, output: dict[str, str]
) -> None:
    conf = PATIENT | {"mapreduce.map.speculative": "true"}
    slow = Point("slow", "VasChild", "rename", f"m_000011_0.*{MANIFEST}")
    with faulty_job(lab, "warm-slow", slow, conf=conf) as job:
        held = job.held("slow")
        job.succeeded()
        found = job.attempts()
        assert found["m_000011_0"].state == "KILLED"
        assert found["m_000011_1"].state == "SUCCEEDED"
        assert job.failed() == {}
        assert not any(is_held(pid, held.pid) for pid in jvms(job))
    assert digests(lab, "warm-slow") == output


def test_a_killed_master_leaves_no_jvm_and_the_next_one_goes_on(
    lab: Lab, output: dict[str, str]
) -> None:
    point = Point("tenth", attempt("m_000000_0"), "rename", MANIFEST)
    with faulty_job(lab, "warm-master", point, conf=WARM) as job:
        job.held("tenth")
        old = list(jvms(job))
        job.kill_master()
        job.release("tenth")
        poll(
            lambda: set(jvms(job)) & set(old),
            lambda left: not left,
            PATIENCE_SECONDS,
            "the JVMs of the dead master to end",
        )
        job.succeeded()
    assert digests(lab, "warm-master") == output
