"""Map output that a job leaves: the node service and the janitor remove it, on real daemons."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_lab.lab import Lab
from vas_tests.faults import FaultyJob, Point, attempt, faulty_job, staging
from vas_tests.in_lab import inside, vas_json
from vas_yarn.profiles import profile_properties

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(420)]

ATTEMPT = "attempt_1_0001_m_000000_0"
# No map output of its own; the application master leaves the staging directory where it is.
_KEPT = profile_properties("off") | {
    "mapreduce.task.files.preserve.failedtasks": "true",
    "mapreduce.job.tags": "vas-shuffle",
}
# So long the job lives: until the test lets its first map read what it has to do.
_ALIVE = Point("alive", attempt("m_000000_0"), "open", "/job.split$")


def directory_of(lab: Lab, job: FaultyJob) -> Path:
    """The directory of a job that lives."""
    job.held(_ALIVE.name)
    (found,) = staging(lab).glob(f"*/.staging/job_{job.number}")
    return inside(lab, "yarn", "staging", *found.parts[-3:])


def leave(lab: Lab, job: Path) -> None:
    """Map output that nobody removes."""
    attempt = job / "shuffle" / ATTEMPT
    lab.call(["mkdir", "-p", str(attempt)])
    lab.call(["cp", "/etc/hosts", str(attempt / "packed.mof")])


def is_there(lab: Lab, path: Path) -> bool:
    """Whether a path is there, seen from inside the lab."""
    return lab.call(["test", "-e", str(path)], check=False).status == 0


def test_the_node_service_removes_what_the_application_master_left(lab: Lab) -> None:
    with faulty_job(lab, "service", _ALIVE, conf=_KEPT) as running:
        job = directory_of(lab, running)
        leave(lab, job)
        running.release(_ALIVE.name)
        assert running.succeeded().state == "SUCCEEDED"
        left = job / "shuffle" / ATTEMPT
        poll(lambda: is_there(lab, left), lambda there: not there, 60, "map output to go")
    assert is_there(lab, job / "shuffle"), "the mark by which the janitor knows the rest"
    assert is_there(lab, job / "job.xml")


def test_the_janitor_takes_what_is_over_and_leaves_what_lives(lab: Lab) -> None:
    manager = f"http://{lab.spec.cluster.yarn.resourcemanager.name}:8088"
    gc = ("shuffle", "gc", "--staging", str(inside(lab, "yarn", "staging")))
    gc = (*gc, "--resourcemanager", manager, "--grace", "0s")
    with faulty_job(lab, "janitor", _ALIVE, conf=_KEPT) as running:
        job = directory_of(lab, running)
        # Where no node service looks: it would be as quick as this test.
        left = job.parents[2] / "somebody" / ".staging" / job.name
        leave(lab, left)
        assert verdicts(vas_json(lab, *gc), job) == ["live"]
        assert is_there(lab, left / "shuffle")
        running.release(_ALIVE.name)
        assert running.succeeded().state == "SUCCEEDED"
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
