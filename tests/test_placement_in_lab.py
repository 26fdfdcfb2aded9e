"""Jobs on the lab's real YARN: where their maps run, and that nothing keeps them from ending."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from vas_core.polling import poll
from vas_lab.control import ControlRequest
from vas_lab.lab import Lab
from vas_tests.in_lab import inside, vas_json
from vas_yarn.jobs.job import JobResult

pytestmark = [pytest.mark.slow, pytest.mark.timeout(420)]

INPUT = "/placement/input"
MAPS = 12
_SPLIT = {
    # A bare number, which the history server tells as one.
    "vas.lustre.block-size": "16777216",
    "mapreduce.job.reduces": "1",
    # One attempt for each map, and no reducer in a map's place.
    "mapreduce.map.speculative": "false",
    "mapreduce.job.reduce.slowstart.completedmaps": "1.0",
}


@pytest.fixture(scope="module")
def data(lab: Lab) -> None:
    """Twelve stripes of 16 MiB, three on each OST."""
    lab.call(["rm", "-rf", str(inside(lab, "placement"))])
    rows = str(MAPS * (16 << 20) // 100)
    # A progressive file's first stripe may lie on a later one's OST: 4, 3, 3 and 2.
    striped = {"vas.lustre.progressive": "false", "mapreduce.job.maps": "1"}
    lab.run_job(["teragen", rows, INPUT], _SPLIT | striped)


def sort(lab: Lab, output: str, **properties: str) -> JobResult:
    """TeraSort of the data with further properties (`_` for `.`)."""
    conf = _SPLIT | {key.replace("_", "."): value for key, value in properties.items()}
    return lab.run_job(["terasort", INPUT, f"/placement/{output}"], conf)


@pytest.mark.usefixtures("data")
def test_every_map_runs_where_its_stripe_is_and_locality_can_say_so(lab: Lab) -> None:
    job = sort(lab, "quiet")
    rows = vas_json(lab, "job", "locality", job.application_id)
    assert len(rows) == MAPS
    assert {row["where"] for row in rows} == {"local"}, rows
    assert Counter(row["ost"] for row in rows) == dict.fromkeys(range(4), 3)
    assert all(row["ran_on"] == row["vm"] == f"vm{row['ost'] + 1}" for row in rows)
    assert sum(row["local_bytes"] for row in rows) == sum(row["length"] for row in rows)
    local, read = job.counter("LUSTRE-LOCAL_BYTES_READ"), job.counter("BYTES_READ")
    assert local >= 0.99 * read > 0


@contextmanager
def while_running(lab: Lab, job: list[JobResult], output: str) -> Iterator[None]:
    """Runs the sort beside the body; its result is in `job` afterwards."""
    failure: list[BaseException] = []

    def run() -> None:
        try:
            job.append(sort(lab, output))
        except BaseException as error:
            failure.append(error)

    runner = threading.Thread(target=run)
    runner.start()
    try:
        yield
    finally:
        runner.join()
    if failure:
        raise failure[0]


def nodes(lab: Lab) -> dict[str, str]:
    """Node -> state, as the ResourceManager has it."""
    return lab.ask(ControlRequest(ask="status")).nodes


@pytest.mark.long
@pytest.mark.usefixtures("data")
def test_a_dead_node_delays_its_maps_but_not_for_ever_and_the_reason_is_told(lab: Lab) -> None:
    """The dead node's maps say why; of the others no more than that number run elsewhere.

    The dead host waits longest, so it is open whenever any other is: it is its maps' reason.
    Each of the three live guests has room for two maps beside an application master and is
    granted those before anything is open: six maps at least, for MapReduce gives a container
    to a map of its host first. What is left may be exchanged: a container for one of the dead
    node's maps may go to any map, as YARN's rows do not say which it is for.
    """
    lab.ask(ControlRequest(ask="signal", daemon="nodemanager-vm2", signal=signal.SIGKILL))
    try:
        job = sort(lab, "dead-node")
        rows = vas_json(lab, "job", "locality", job.application_id)
        elsewhere = [row for row in rows if row["vm"] == "vm2"]
        assert len(elsewhere) == 3
        assert all(row["ran_on"] != "vm2" for row in rows)
        assert all(row["why"].startswith("vm2: ") for row in elsewhere), elsewhere
        others = [row for row in rows if row["vm"] != "vm2"]
        assert sum(row["where"] == "local" for row in others) >= len(others) - len(elsewhere)
    finally:
        lab.ask(ControlRequest(ask="start", daemon="nodemanager-vm2"))
        poll(lambda: nodes(lab), lambda s: s.get("vm2") == "RUNNING", 60, "vm2 to be back")


def grants(lab: Lab) -> int:
    """The containers that the placement plugin has seen granted so far."""
    log = lab.spec.logs / "resourcemanager.log"
    return log.read_text(errors="replace").count("event=grant")


def restart(lab: Lab, daemon: str) -> None:
    """Kills a daemon with -9 and starts it again."""

    def is_alive() -> bool:
        daemons = lab.ask(ControlRequest(ask="status")).daemons
        return next(d.pid is not None for d in daemons if d.name == daemon)

    lab.ask(ControlRequest(ask="signal", daemon=daemon, signal=signal.SIGKILL))
    poll(is_alive, lambda alive: not alive, 30, f"{daemon} to end")
    lab.ask(ControlRequest(ask="start", daemon=daemon))


@pytest.mark.long
@pytest.mark.usefixtures("data")
def test_a_resourcemanager_restart_in_mid_job(lab: Lab) -> None:
    job: list[JobResult] = []
    before = grants(lab)
    with while_running(lab, job, "rm-restart"):
        poll(lambda: grants(lab), lambda now: now > before, 90, "a first grant")
        restart(lab, "resourcemanager")
    assert job[0].state == "SUCCEEDED"
    assert job[0].counter("MAP_INPUT_RECORDS") == MAPS * (16 << 20) // 100
    # No container ended with it, and no map was started twice.
    assert job[0].counter("TOTAL_LAUNCHED_MAPS") == MAPS
    assert job[0].counter("NUM_FAILED_MAPS") == 0


@pytest.mark.long
@pytest.mark.usefixtures("data")
def test_opting_out_is_one_property(lab: Lab) -> None:
    job = sort(lab, "off", mapreduce_job_tags="vas-placement-off")
    log = (lab.spec.logs / "resourcemanager.log").read_text(errors="replace")
    assert f"app={job.application_id}" not in "".join(
        line for line in log.splitlines(keepends=True) if "vas.placement" in line
    )
