"""A thousand reducers on four nodes with vas-shuffled: the connections between the nodes."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator

import pytest

from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.shuffle_runs import files, generate_rows, run
from vas_tests.shuffled import PROGRAM, WITH_DAEMON, metrics
from vas_yarn.profiles import NODE_SHUFFLE, STOCK_SHUFFLE

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(1500),
    pytest.mark.skipif(not PROGRAM.exists(), reason="vas-shuffled is not built"),
]

_REDUCERS = 1000
_HOSTS = 4
_MAPS = 8
_TERASORT = ("terasort", "/shuffle/in/rows")
# Containers are used again: a thousand starts of a JVM are another test's.
_MANY = {
    "mapreduce.job.reduces": str(_REDUCERS),
    "mapreduce.reduce.memory.mb": "256",
    "mapreduce.reduce.java.opts": "-Xmx160m",
    "yarn.app.mapreduce.am.command-opts": "-Xmx400m org.vas.app.VasAppMaster",
    "vas.containers.reuse": "on",
}


@pytest.fixture(scope="module")
def node_lab() -> Iterator[Lab]:
    state = REPOSITORY / "build" / "lab" / "jbs-many"
    options = LabOptions(state_dir=state, hosts=_HOSTS, properties=WITH_DAEMON)
    with Lab.start(options, tied=True) as started:
        generate_rows(started, 200_000, maps=_MAPS)
        yield started


def digest(lab: Lab, output: str) -> str:
    """Returns the SHA-256 of all output files one after the other: TeraSort's order is total."""
    paths = sorted(files(lab, output))
    joined = lab.call(["sh", "-c", 'cat "$@" | sha256sum', "sh", *paths]).stdout
    return joined.split()[0]


def test_a_thousand_reducers_share_the_connections_of_their_nodes(node_lab: Lab) -> None:
    run(node_lab, _TERASORT, "stock", STOCK_SHUFFLE | {"mapreduce.job.reduces": "2"})
    seen: list[int] = []
    over = threading.Event()

    def look() -> None:
        while not over.wait(2):
            seen.extend(metrics(node_lab, "peers_out"))

    looker = threading.Thread(target=look)
    looker.start()
    try:
        job = run(node_lab, _TERASORT, "many", NODE_SHUFFLE | _MANY)
    finally:
        over.set()
        looker.join()
    peers_in, peers_out, refusals = metrics(node_lab, "peers_in", "peers_out", "refusals_total")
    assert len(seen) > 10 and max(seen) <= _HOSTS * (_HOSTS - 1)
    assert digest(node_lab, "many") == digest(node_lab, "stock") != hashlib.sha256().hexdigest()
    assert job.counter("SHUFFLED_MAPS") == job.total_maps * _REDUCERS
    # The daemons keep them: stock's reducers would have opened some for each pair of tasks.
    assert 0 < peers_out <= _HOSTS * (_HOSTS - 1)
    assert peers_in == peers_out
    assert refusals == 0
