"""`vas accept` in a lab: owners, and a TeraSort by the real YARN."""

from __future__ import annotations

import json
import sys

import pytest

from vas_lab.lab import Lab
from vas_tests.in_lab import inside

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(600)]


def accept(lab: Lab, *words: str) -> tuple[int, dict[str, dict[str, str]]]:
    """The exit status and the results by check's name."""
    argv = [sys.executable, "-m", "vas_core", "accept", str(inside(lab)), "--json", *words]
    done = lab.call(argv, check=False)
    assert done.stdout, done.stderr
    return done.status, {each["check"]: each for each in json.loads(done.stdout)["checks"]}


def test_a_job_by_the_queue_and_the_servers_of_osts(lab: Lab) -> None:
    cluster = lab.call(["printenv", "VAS_CLUSTER"]).stdout.strip()
    lab.object_requests(counting=True)
    try:
        words = ("--cluster", cluster, "--jobs", "--only", "owners", "--only", "terasort")
        status, told = accept(lab, *words, "--only", "sync", "--only", "shuffle")
    finally:
        lab.object_requests(counting=False)
    assert {name: each["status"] for name, each in told.items()} == {
        "owners": "passed",
        "shuffle": "passed",
        "sync-time": "passed",
        "sync-requests": "passed",
        "terasort": "passed",
    }, told
    assert status == 0
    assert "4 OSTs are at servers of the map" in told["owners"]["seen"]
    assert "rows in order" in told["terasort"]["seen"]
    assert "of the bytes were local" in told["terasort"]["seen"]
    assert "vas-accept" not in lab.call(["ls", "-A", str(inside(lab))]).stdout


def test_a_job_that_fails_is_a_check_that_failed(lab: Lab) -> None:
    """The queue that the user's configuration names does not exist."""
    words = f"--jobs --only terasort --json {inside(lab)}"
    script = (
        "conf=$(mktemp -d) && cp -r $HADOOP_CONF_DIR/. $conf && "
        "sed -i 's|</configuration>|<property><name>mapreduce.job.queuename</name>"
        "<value>nowhere</value></property></configuration>|' $conf/*-site.xml && "
        f"HADOOP_CONF_DIR=$conf {sys.executable} -m vas_core accept {words}"
    )
    done = lab.call(["bash", "-c", script], check=False)
    (told,) = json.loads(done.stdout)["checks"]
    assert (done.status, told["status"]) == (3, "failed"), told
    assert "nowhere" in told["seen"]
