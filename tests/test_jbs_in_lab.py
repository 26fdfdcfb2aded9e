"""Stock's map output on the nodes' own disks: vas-shuffled and NodeMerge on the lab's real YARN.

The daemon is built by `./vas build` where a Rust compiler is; without it these tests are skipped.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.shuffle_runs import digests, generate_rows, run
from vas_tests.shuffled import PROGRAM, READ_BYTES, WITH_DAEMON, daemons, metrics
from vas_yarn.jobs.job import JobResult

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not PROGRAM.exists(), reason="vas-shuffled is not built"),
]

_CONSUMER = "mapreduce.job.reduce.shuffle.consumer.plugin.class"
JBS = {_CONSUMER: "org.vas.shuffle.reduce.NodeMerge"}
LOCAL = {"mapreduce.job.map.output.collector.class": "org.vas.shuffle.map.LocalCollector"}
SORT = {"mapreduce.job.reduces": "3"}
MERGED = {"vas.shuffled.delivery": "merged"}
COMPRESSED = {"mapreduce.map.output.compress": "true"}
ENCRYPTED = {"mapreduce.job.encrypted-intermediate-data": "true"}
# Opens 200 connections a second to each of these nodes' daemons, keeps 3,000, and proves nothing.
FLOOD = """
import collections, contextlib, resource, socket, sys, time
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
held = collections.deque(maxlen=min(3000, most - 100))
while True:
    for node in sys.argv[1:]:
        for _ in range(100):
            with contextlib.suppress(OSError):
                held.append(socket.create_connection((node, 13563), 1))
    print("held", flush=True)
    time.sleep(0.5)
"""


@pytest.fixture(scope="module")
def node_lab() -> Iterator[Lab]:
    """A lab whose NodeManagers run vas-shuffled beside stock's shuffle."""
    properties = WITH_DAEMON | {"vas.shuffled.memory": "64m", "vas.shuffled.patience": "20s"}
    options = LabOptions(
        state_dir=REPOSITORY / "build" / "lab" / "jbs", hosts=4, properties=properties
    )
    with Lab.start(options, tied=True) as started:
        generate_rows(started, 400_000, maps=6)
        yield started


@pytest.fixture(scope="module")
def stock(node_lab: Lab) -> JobResult:
    return run(node_lab, ("terasort", "/shuffle/in/rows"), "stock", SORT)


def test_the_daemons_run_filtered_and_gain_no_rights(node_lab: Lab) -> None:
    running = daemons()
    assert len(running) == len(node_lab.spec.cluster.guests())
    for pid in running:
        status = dict(
            line.split(":\t", 1)
            for line in Path(f"/proc/{pid}/status").read_text().splitlines()
            if ":\t" in line
        )
        assert (status["Seccomp"], status["NoNewPrivs"]) == ("2", "1")


def test_a_sort_gives_what_stock_gives_and_its_bytes_went_by_the_daemons(
    node_lab: Lab, stock: JobResult
) -> None:
    before = sum(metrics(node_lab, *READ_BYTES))
    job = run(node_lab, ("terasort", "/shuffle/in/rows"), "jbs", SORT | JBS)
    assert digests(node_lab, "jbs") == digests(node_lab, "stock")
    for name in ("REDUCE_SHUFFLE_BYTES", "REDUCE_INPUT_RECORDS", "SHUFFLED_MAPS", "FAILED_SHUFFLE"):
        assert job.counter(name) == stock.counter(name), name
    # 400,000 rows of 100 bytes, each fetched once; of small segments none.
    assert sum(metrics(node_lab, *READ_BYTES)) - before >= 40_000_000
    assert job.counter("MOF_BYTES_READ") >= 40_000_000


@pytest.mark.parametrize("settings", [COMPRESSED, ENCRYPTED], ids=["compressed", "encrypted"])
def test_segments_that_only_the_job_can_decode(
    node_lab: Lab, stock: JobResult, settings: dict[str, str]
) -> None:
    run(node_lab, ("terasort", "/shuffle/in/rows"), "decoded", SORT | JBS | settings)
    assert digests(node_lab, "decoded") == digests(node_lab, "stock")


@pytest.mark.parametrize("settings", [{}, COMPRESSED, ENCRYPTED], ids=["plain", "gzip", "secret"])
@pytest.mark.parametrize("consumer", [{}, JBS], ids=["handler", "daemon"])
def test_our_collector_on_local_disks_is_served_as_stocks(
    node_lab: Lab, stock: JobResult, consumer: dict[str, str], settings: dict[str, str]
) -> None:
    job = run(
        node_lab, ("terasort", "/shuffle/in/rows"), "local", SORT | LOCAL | consumer | settings
    )
    assert digests(node_lab, "local") == digests(node_lab, "stock")
    same = ["REDUCE_INPUT_RECORDS", "SHUFFLED_MAPS", "FAILED_SHUFFLE", "MAP_OUTPUT_RECORDS"]
    if not settings:
        same += ["REDUCE_SHUFFLE_BYTES", "MAP_OUTPUT_MATERIALIZED_BYTES"]
    for name in same:
        assert job.counter(name) == stock.counter(name), name


@pytest.mark.parametrize("settings", [{}, LOCAL | COMPRESSED], ids=["plain", "ours, zlib"])
def test_the_daemons_merge_what_stock_merges(
    node_lab: Lab, stock: JobResult, settings: dict[str, str]
) -> None:
    before = sum(metrics(node_lab, "merged_bytes_total"))
    conf = SORT | JBS | MERGED | settings
    job = run(node_lab, ("terasort", "/shuffle/in/rows"), "merged", conf)
    assert digests(node_lab, "merged") == digests(node_lab, "stock")
    for name in ("REDUCE_INPUT_RECORDS", "SHUFFLED_MAPS", "FAILED_SHUFFLE"):
        assert job.counter(name) == stock.counter(name), name
    # 400,000 rows of 100 bytes: all of them were merged by daemons, and none in a JVM.
    assert sum(metrics(node_lab, "merged_bytes_total")) - before >= 40_000_000
    assert metrics(node_lab, "merges") == [0]


def test_what_a_daemon_cannot_merge_comes_as_segments(node_lab: Lab, stock: JobResult) -> None:
    before = metrics(node_lab, "merged_bytes_total")
    run(node_lab, ("terasort", "/shuffle/in/rows"), "secret", SORT | JBS | MERGED | ENCRYPTED)
    assert digests(node_lab, "secret") == digests(node_lab, "stock")
    assert metrics(node_lab, "merged_bytes_total") == before


def test_connections_that_prove_nothing_keep_no_reducer_out(
    node_lab: Lab, stock: JobResult
) -> None:
    first, *others = (guest.name for guest in node_lab.spec.cluster.guests())
    argv = node_lab.enter([sys.executable, "-c", FLOOD, *others], node=first)
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as flood:
        try:
            assert flood.stdout is not None
            # By then a table of 1,024 connections, ten seconds each, would be full.
            assert all(flood.stdout.readline() == "held\n" for _ in range(15))
            job = run(node_lab, ("terasort", "/shuffle/in/rows"), "flooded", SORT | JBS)
            assert flood.poll() is None
        finally:
            flood.kill()
    assert digests(node_lab, "flooded") == digests(node_lab, "stock")
    assert job.counter("FAILED_SHUFFLE") == stock.counter("FAILED_SHUFFLE") == 0
