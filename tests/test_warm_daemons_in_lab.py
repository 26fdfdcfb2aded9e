"""Warm containers on daemons that restart with work preserved, and that claim containers back.

A lab of its own: its NodeManagers recover their containers, and its queues preempt.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.faults import (
    MANIFEST,
    REDUCERS,
    FaultyJob,
    Point,
    digests,
    faulty_job,
    finished,
)
from vas_tests.kills import restart
from vas_tests.warm import COLD, MAPS, PATIENT, ExpectedJob, is_held, jvms

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
]

_STATE = REPOSITORY / "build" / "lab" / "warm-daemons"
_RECOVERING = {
    "yarn.nodemanager.recovery.enabled": "true",
    "yarn.nodemanager.recovery.supervised": "true",
    "yarn.nodemanager.recovery.dir": f"{_STATE}/nodes/${{env.VAS_NODE}}/recovery",
}
_QUEUES = "yarn.scheduler.capacity.root"
_PREEMPTION = "yarn.resourcemanager.monitor.capacity.preemption"
# The queue `default` is entitled to 435 MiB of the 4,352: to a master, and to no task beside it.
_PREEMPTING = {
    f"{_QUEUES}.queues": "default,claiming",
    f"{_QUEUES}.default.capacity": "10",
    f"{_QUEUES}.default.user-limit-factor": "10",
    f"{_QUEUES}.claiming.capacity": "90",
    f"{_QUEUES}.claiming.acl_submit_applications": "*",
    "yarn.resourcemanager.scheduler.monitor.enable": "true",
    f"{_PREEMPTION}.monitoring_interval": "500",
    f"{_PREEMPTION}.total_preemption_per_round": "1.0",
    f"{_PREEMPTION}.natural_termination_factor": "1.0",
}
# YARN claims, and does not take: what ends a container here, its master has given back.
_CLAIMING = {f"{_PREEMPTION}.max_wait_before_kill": "3600000"}
_TAKING = {f"{_PREEMPTION}.max_wait_before_kill": "500"}
_LAST = Point("last", "VasChild", "rename", f"m_{MAPS - 1:06}_0.*{MANIFEST}")


@pytest.fixture(scope="module")
def own_lab(request: pytest.FixtureRequest) -> Iterator[Lab]:
    properties = _RECOVERING | _PREEMPTING | getattr(request, "param", _CLAIMING)
    with Lab.start(LabOptions(state_dir=_STATE, hosts=4, properties=properties), tied=True) as it:
        yield it


@pytest.fixture(scope="module")
def output(own_lab: Lab) -> dict[str, str]:
    """The output of the job with a JVM for each task: file -> SHA-256."""
    with faulty_job(own_lab, "cold", conf=COLD) as job:
        job.succeeded()
    found = digests(own_lab, "cold")
    assert len(found) == REDUCERS
    return found


def waiting(job: FaultyJob) -> set[int]:
    """The JVMs that wait for a task while the job's last map is held at its end."""
    held = job.held("last")
    finished(job, {f"m_{task:06}_0" for task in range(MAPS - 1)})
    found = {pid for pid in jvms(job) if not is_held(pid, held.pid)}
    assert found
    return found


def test_containers_outlive_their_node_managers_and_run_more_tasks(
    own_lab: Lab, output: dict[str, str]
) -> None:
    with faulty_job(own_lab, "restarted", _LAST, conf=PATIENT) as job:
        before = waiting(job) | set(jvms(job))
        for guest in own_lab.spec.cluster.guests():
            restart(own_lab, guest.name)
        assert set(jvms(job)) == before
        job.release("last")
        assert job.succeeded().counter("CONTAINERS_LAUNCHED") == len(before)
        assert job.failed() == {}
        assert all(name.endswith("_0") for name in job.attempts())
    assert digests(own_lab, "restarted") == output


def test_a_container_that_waits_is_given_back_as_soon_as_yarn_claims_it(
    own_lab: Lab, output: dict[str, str]
) -> None:
    with faulty_job(own_lab, "claimed", _LAST, conf=PATIENT) as job:
        idle = waiting(job)
        conf = COLD | {"probe.maps": "4", "mapreduce.job.queuename": "claiming"}
        with faulty_job(own_lab, "claiming", conf=conf) as other:
            other.succeeded()
        assert idle - set(jvms(job))
        job.release("last")
        job.succeeded()
        assert job.failed() == {}
        assert all(name.endswith("_0") for name in job.attempts())
    assert digests(own_lab, "claimed") == output


@pytest.mark.parametrize("own_lab", [_TAKING], indirect=True)
def test_a_container_in_use_that_yarn_takes_is_no_attempts_fault(own_lab: Lab) -> None:
    """Its attempt, which is not its first, was killed and runs again."""
    with faulty_job(own_lab, "alone", conf=COLD) as job:
        expected = ExpectedJob.of(job)
    with faulty_job(own_lab, "taken", _LAST, conf=PATIENT) as job:
        waiting(job)
        held = job.held("last")
        conf = COLD | {"probe.maps": "40", "mapreduce.job.queuename": "claiming"}
        with faulty_job(own_lab, "claiming", conf=conf) as other:
            poll(
                lambda: any(is_held(pid, held.pid) for pid in jvms(job)),
                lambda left: not left,
                120,
                "YARN to take the container in use",
            )
            other.succeeded()
        job.succeeded()
        assert job.failed() == {}
        killed = {name for name, it in job.attempts().items() if it.state == "KILLED"}
        assert killed == {f"m_{MAPS - 1:06}_0"}
        expected.check(job)
