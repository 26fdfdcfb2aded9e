"""Faults in containers that run one task after another, on the lab's real YARN.

Whatever happens to a JVM, output and counters are those of a job whose tasks have a JVM each.
"""

from __future__ import annotations

import os
import shutil
import signal
from pathlib import Path

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
    faulty_job,
    finished,
    maps,
)
from vas_tests.warm import (
    MAPS,
    PATIENT,
    STOCK,
    WARM,
    ExpectedJob,
    attempts,
    is_held,
    is_of_a_used_jvm,
    jvms,
)

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def stock(lab: Lab) -> ExpectedJob:
    """The job with Hadoop's own master, and a JVM for each task."""
    with faulty_job(lab, "stock", conf=STOCK) as job:
        found = ExpectedJob.of(job)
    assert job.succeeded().total_maps == MAPS
    assert len(found.output) == REDUCERS
    return found


def test_a_jvm_killed_in_its_second_task_costs_that_attempt_alone(
    lab: Lab, stock: ExpectedJob
) -> None:
    point = Point("second", "VasChild", "rename", f"m_000009_0.*{MANIFEST}")
    with faulty_job(lab, "warm-killed", point, conf=WARM) as job:
        job.kill("second")
        result = job.succeeded()
        assert set(job.failed()) == {"m_000009_0"}
    assert is_of_a_used_jvm(attempts(lab, result), "m_000009_0")
    stock.check(job)


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
    lab: Lab, stock: ExpectedJob
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
    stock.check(job)


def test_a_jvm_that_dies_between_two_tasks_fails_no_attempt(lab: Lab, stock: ExpectedJob) -> None:
    conf = WARM | {"mapreduce.map.java.opts": LISTENS, "mapreduce.job.running.map.limit": "1"}
    with faulty_job(lab, "warm-between", _FIRST, conf=conf) as job:
        kill_first_jvm_in(job, "JvmState.restore")
        job.succeeded()
        assert job.failed() == {}
        assert all(name.endswith("_0") for name in job.attempts())
    stock.check(job)


def test_a_task_that_hangs_in_a_used_jvm_times_out_alone(lab: Lab, stock: ExpectedJob) -> None:
    # It holds for every task, and counts the start of a JVM on a busy machine.
    conf = WARM | {"mapreduce.task.timeout": "30000"}
    point = Point("hangs", "VasChild", "rename", f"m_000009_0.*{MANIFEST}")
    with faulty_job(lab, "warm-hangs", point, conf=conf) as job:
        job.held("hangs")
        result = job.succeeded()
        assert set(job.failed()) == {"m_000009_0"}
        assert "taskTimedOut: true" in job.failed()["m_000009_0"]
    assert is_of_a_used_jvm(attempts(lab, result), "m_000009_0")
    stock.check(job)


def test_a_task_that_exits_costs_its_own_attempt_alone(lab: Lab, stock: ExpectedJob) -> None:
    point = Point("exits", "VasChild", "rename", f"m_000009_0.*{MANIFEST}", action="exit:7")
    with faulty_job(lab, "warm-exits", point, conf=WARM) as job:
        result = job.succeeded()
        assert set(job.failed()) == {"m_000009_0"}
        assert "Exit code: 7" in job.failed()["m_000009_0"]
    assert is_of_a_used_jvm(attempts(lab, result), "m_000009_0")
    stock.check(job)


def test_a_jvm_whose_task_left_a_thread_ends_and_the_reason_is_counted(
    lab: Lab, stock: ExpectedJob
) -> None:
    point = Point("leaves", "VasChild", "rename", f"m_000000_0.*{MANIFEST}", action="thread")
    with faulty_job(lab, "warm-thread", point, conf=WARM) as job:
        assert job.succeeded().counter("JVMS_ENDED_THREADS") == 1
        assert job.failed() == {}
    found = attempts(lab, job.succeeded())
    (left,) = [each for name, each in found.items() if name.endswith("m_000000_0")]
    same = [e for e in found.values() if e["assignedContainerId"] == left["assignedContainerId"]]
    assert max(each["startTime"] for each in same) == left["startTime"]
    stock.check(job)


def test_a_lost_output_of_a_jvm_that_was_used_again_is_made_again(
    lab: Lab, stock: ExpectedJob
) -> None:
    point = Point("reads", "VasChild", "open", f"m_000009_0.*{MANIFEST}")
    with faulty_job(lab, "warm-lost", point, conf=WARM) as job:
        job.held("reads")
        shutil.rmtree(job.output_of("m_000009_0"))
        job.release("reads")
        result = job.succeeded()
        again = {name for name in job.attempts() if name[0] == "m" and name[-1] != "0"}
        assert again == {"m_000009_1"}
    assert is_of_a_used_jvm(attempts(lab, result), "m_000009_0")
    stock.check(job)


def test_jvms_killed_while_they_wait_fail_no_attempt(lab: Lab, stock: ExpectedJob) -> None:
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
    stock.check(job)


def test_jvms_that_hang_while_they_wait_are_ended(lab: Lab, stock: ExpectedJob) -> None:
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
    stock.check(job)


def test_a_slow_attempt_is_overtaken_in_a_jvm_that_waited_and_stopped(
    lab: Lab, stock: ExpectedJob
) -> None:
    conf = PATIENT | {"mapreduce.map.speculative": "true"}
    slow = Point("slow", "VasChild", "rename", f"m_000011_0.*{MANIFEST}")
    # A JVM that waits is quick: it must not be done before the slow one is where it is held.
    second = Point("second", "VasChild", "rename", f"m_000011_1.*{MANIFEST}")
    # A reduce reads: the job goes on. Of any map, as others may be overtaken too.
    reads = Point("reads", "VasChild", "open", MANIFEST)
    with faulty_job(lab, "warm-slow", slow, second, reads, conf=conf) as job:
        held = job.held("slow")
        job.release("second")
        job.held("reads")
        poll(
            lambda: any(is_held(pid, held.pid) for pid in jvms(job)),
            lambda left: not left,
            PATIENCE_SECONDS,
            "the slow attempt's JVM to end",
        )
        job.release("reads")
        result = job.succeeded()
        found = job.attempts()
        assert found["m_000011_0"].state == "KILLED"
        assert found["m_000011_1"].state == "SUCCEEDED"
        assert job.failed() == {}
    assert is_of_a_used_jvm(attempts(lab, result), "m_000011_1")
    stock.check(job)


def test_a_killed_master_leaves_no_jvm_and_the_next_one_goes_on(
    lab: Lab, stock: ExpectedJob
) -> None:
    """The maps that were done are not run again; JVMs waited, and one ran the last map."""
    last = Point("last", "VasChild", "rename", f"m_000011_0.*{MANIFEST}")
    done = {f"m_{task:06}_0" for task in range(MAPS - 1)}
    with faulty_job(lab, "warm-master", last, conf=PATIENT) as job:
        job.held("last")
        finished(job, done)
        old = set(jvms(job))
        assert len(old) > 1
        job.kill_master()
        job.release("last")
        poll(
            lambda: old & set(jvms(job)),
            lambda left: not left,
            PATIENCE_SECONDS,
            "the JVMs of the dead master to end",
        )
        job.succeeded()
        again = maps(job) - done
        assert all(name.startswith("m_000011_") for name in again)
    stock.check(job, reused=False)


def test_a_map_whose_output_stock_cannot_fetch_runs_again(lab: Lab) -> None:
    """The output of a map that ran in a used JVM is lost from its node's local directory.

    Stock's ShuffleHandler refuses all that it is asked for with it, so that other maps of the node
    may run again too, and reduces give up; in a JVM for each task as well.
    """
    few = {"probe.maps": "8", "probe.records": "100000", "vas.shuffle.enabled": "false"}
    with faulty_job(lab, "few", conf=STOCK | few) as job:
        expected = ExpectedJob.of(job)
    # Two JVMs run four maps each: some follow the one whose output goes.
    two = {
        "mapreduce.job.running.map.limit": "2",
        # Reported at once: a small job is lost before the tenth time, which is the default.
        "mapreduce.reduce.shuffle.maxfetchfailures": "1",
    }
    with faulty_job(lab, "unfetched", conf=WARM | few | two) as job:
        finished(job, {"m_000002_0"})
        shutil.rmtree(local_output(job, "m_000002_0"))
        result = job.succeeded()
        assert "Too many fetch failures" in job.failed()["m_000002_0"]
        assert job.attempts()["m_000002_1"].state == "SUCCEEDED"
        expected.check(job)
    ran = {name[-10:]: it["assignedContainerId"] for name, it in attempts(lab, result).items()}
    assert ran["m_000002_0"] in (ran["m_000000_0"], ran["m_000001_0"])


def local_output(job: FaultyJob, name: str) -> Path:
    """Returns the directory of a map's output on its node's disk."""
    nodes = job.lab.spec.state_dir / "nodes"
    pattern = f"*/local/usercache/*/appcache/*/output/attempt_{job.number}_{name}"
    (found,) = nodes.glob(pattern)
    return found
