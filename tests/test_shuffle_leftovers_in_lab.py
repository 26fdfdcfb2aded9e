"""What a job leaves of its map output, on real daemons: the node service and the janitor."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_lab.lab import Lab
from vas_tests.in_lab import inside, vas_json
from vas_yarn.jobs.job import JobResult

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(420)]

ATTEMPT = "attempt_1_0001_m_000000_0"
# The application master leaves the staging directory of such a job where it is.
_KEPT = {"mapreduce.task.files.preserve.failedtasks": "true", "mapreduce.job.tags": "vas-shuffle"}


@pytest.fixture(autouse=True)
def no_output_of_an_earlier_run(lab: Lab) -> None:
    """A lab keeps its data."""
    lab.call(["rm", "-rf", str(inside(lab, "leftovers"))])


@contextmanager
def running(lab: Lab, name: str, results: list[JobResult]) -> Iterator[Path]:
    """A job beside the body; gives its directory, which is there before its first task."""
    staging = inside(lab, "yarn", "staging")
    before = jobs(lab, staging)

    def run() -> None:
        properties = _KEPT | {"mapreduce.job.maps": "2"}
        results.append(lab.run_job(["teragen", "2000000", f"/leftovers/{name}"], properties))

    runner = threading.Thread(target=run)
    runner.start()
    try:
        found = poll(lambda: jobs(lab, staging) - before, bool, 90, "the job's directory")
        yield Path(found.pop())
    finally:
        runner.join()


def jobs(lab: Lab, staging: Path) -> set[str]:
    """Every job's directory."""
    found = lab.call(["find", str(staging), "-path", "*/.staging/job_*", "-prune"], check=False)
    return set(found.stdout.split())


def leave(lab: Lab, job: Path) -> None:
    """Map output that nobody removes."""
    attempt = job / "shuffle" / ATTEMPT
    lab.call(["mkdir", "-p", str(attempt)])
    lab.call(["cp", "/etc/hosts", str(attempt / "packed.mof")])


def is_there(lab: Lab, path: Path) -> bool:
    """Whether a path is there, seen from inside the lab."""
    return lab.call(["test", "-e", str(path)], check=False).status == 0


def test_the_node_service_removes_what_the_application_master_left(lab: Lab) -> None:
    results: list[JobResult] = []
    with running(lab, "service", results) as job:
        leave(lab, job)
    assert results[0].state == "SUCCEEDED"
    left = job / "shuffle" / ATTEMPT
    poll(lambda: is_there(lab, left), lambda there: not there, 60, "map output to go")
    assert is_there(lab, job / "shuffle"), "the mark by which the janitor knows the rest"
    assert is_there(lab, job / "job.xml")


def test_the_janitor_takes_what_is_over_and_leaves_what_lives(lab: Lab) -> None:
    manager = f"http://{lab.spec.cluster.yarn.resourcemanager.name}:8088"
    gc = ("shuffle", "gc", "--staging", str(inside(lab, "yarn", "staging")))
    gc = (*gc, "--resourcemanager", manager, "--grace", "0s")
    results: list[JobResult] = []
    with running(lab, "janitor", results) as job:
        # Where no node service looks: it would be as quick as this test.
        left = job.parents[2] / "somebody" / ".staging" / job.name
        leave(lab, left)
        # The directory is there before the ResourceManager hears of the job.
        poll(
            lambda: verdicts(vas_json(lab, *gc), job),
            lambda found: found == ["live"],
            60,
            "the job to be known",
        )
        assert is_there(lab, left / "shuffle")
    assert results[0].state == "SUCCEEDED"
    # The ResourceManager's clock, as it tells it over HTTP, has whole seconds.
    taken = poll(
        lambda: verdicts(vas_json(lab, *gc), job),
        lambda found: found != ["grace"],
        60,
        "the second to pass",
    )
    assert taken == ["quarantine"]
    assert not is_there(lab, left)
    assert verdicts(vas_json(lab, *gc), job) == ["delete"]
    assert verdicts(vas_json(lab, *gc), job) == []


def verdicts(rows: list[dict[str, str]], job: Path) -> list[str]:
    """What the janitor said about one job."""
    return [row["verdict"] for row in rows if job.name in row["where"]]
