"""Containers that run one task after another, on the lab's real YARN.

Whatever happens to a JVM, the output is that of a job whose tasks have a JVM each.
"""

from __future__ import annotations

from typing import Any

import pytest

from vas_lab.lab import Lab
from vas_tests.faults import (
    REDUCERS,
    digests,
    faulty_job,
    logs_kept,
)
from vas_tests.in_lab import history
from vas_tests.warm import (
    COLD,
    MAPS,
    PATIENT,
    STOCK,
    WARM,
    as_list,
    assert_counted_alike,
    assert_cpu_is_each_task_s_own,
    attempts,
    command,
    counters,
)
from vas_yarn.jobs.job import JobResult

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(900)]

# No container ends while it waits for the slowest map, however slow. The jobs without such
# containers have the words too: each task counts the bytes of its job.xml.
_WAITING = {key: value for key, value in PATIENT.items() if key not in WARM}


@pytest.fixture(scope="module")
def cold(lab: Lab) -> JobResult:
    """The job with Hadoop's own master, and a JVM for each task."""
    with faulty_job(lab, "cold", conf=STOCK | _WAITING) as job:
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
    with faulty_job(lab, "warm", conf=WARM | _WAITING) as job:
        result = job.succeeded()
    assert digests(lab, "warm") == output
    logs_kept(lab, result.application_id)
    return result


def test_a_container_runs_several_tasks(lab: Lab, warm: JobResult) -> None:
    containers = [each["assignedContainerId"] for each in attempts(lab, warm).values()]
    assert len(containers) == MAPS + REDUCERS
    assert len(set(containers)) <= 6


def test_each_task_counts_what_it_counts_alone(lab: Lab, cold: JobResult, warm: JobResult) -> None:
    alone, together = counters(lab, cold), counters(lab, warm)
    written = "FILE_BYTES_WRITTEN"
    assert_counted_alike(together, alone, written)
    for task, expected in alone.items():
        # Each task writes its job.xml, in which `on` is a letter shorter than `off`.
        assert together[task][written] + 1 == expected[written]
    assert_cpu_is_each_task_s_own(lab, warm)


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
    logs_kept(lab, result.application_id)
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


def test_off_gives_each_task_a_container(lab: Lab, cold: JobResult, output: dict[str, str]) -> None:
    with faulty_job(lab, "warm-off", conf=COLD | _WAITING) as job:
        result = job.succeeded()
    assert digests(lab, "warm-off") == output
    assert_counted_alike(counters(lab, result), counters(lab, cold), "FILE_BYTES_WRITTEN")
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
    logs_kept(lab, result.application_id)
    text = command(lab, "yarn.client.cli.LogsCLI", "-applicationId", result.application_id)
    assert " of the job's own files, not of the nodes'" in text
