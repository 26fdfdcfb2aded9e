"""`vas bench fetch`: what is counted, and one round of each arm with real programs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vas_bench.engine.rounds import RunIdentity
from vas_bench.fetch.page_cache import cached_share
from vas_bench.fetch.place import check_machine, observed
from vas_bench.fetch.processes import accepted_connections
from vas_bench.fetch.request import FetchAnswer, FetchCounts, PartitionSum
from vas_bench.fetch.subjects import (
    ARMS,
    DAEMON,
    DAEMON_MERGED,
    DAEMON_TLS,
    STOCK,
    STOCK_TLS,
    FetchSubject,
    subjects,
)
from vas_bench.fetch.sums import ClientSum, wrong_sums
from vas_bench.fetch.table import COLUMNS, KINDS, rows
from vas_bench.results.record import BenchRun
from vas_bench.results.store import content_of
from vas_bench.results.systems import Fetching
from vas_bench.run.own_jobs import workloads_jar
from vas_core.cli import run_command
from vas_core.errors import NotHere
from vas_core.root import Root
from vas_lab.hadoop.shuffled import find_shuffled

GIB = 1 << 30


def counts(cpu: float, **others: int) -> FetchCounts:
    whole = dict.fromkeys(FetchCounts.model_fields, 1) | others
    return FetchCounts(
        **{
            **whole,
            "wall_seconds": 2.0,
            "client_cpu": cpu,
            "client_daemon_cpu": 0.5,
            "server_cpu": 0.25,
        }
    )


def made(
    system: Fetching, number: int, cpu: float, clients: int = 1, reads: int | None = None
) -> BenchRun:
    subject = FetchSubject(system, clients, GIB, 32, 400, reads)
    seen = observed(FetchAnswer(fresh=counts(cpu), again=counts(cpu / 2)), GIB // 2)
    return RunIdentity(subject, {}, {}).run(
        id=f"{system}-{clients}-{number}-{reads}",
        time=datetime(2026, 11, 27, tzinfo=UTC),
        round=number,
        measures=dict(seen.measures),
    )


def test_cpu_is_per_gibibyte_and_of_all_processes() -> None:
    found = observed(FetchAnswer(fresh=counts(4), again=counts(2)), GIB // 2).measures
    assert found["cpu_seconds_per_gib/all"] == 9.5
    assert found["cpu_seconds_per_gib/clients"] == 9
    assert found["cpu_seconds_per_gib/server"] == 0.5
    assert found["cpu_seconds_per_gib/all, again"] == 5.5


def test_map_output_that_is_not_in_the_page_cache_is_invalid() -> None:
    def seen(cached: float) -> str:
        again = counts(2).model_copy(update={"cached_share": cached})
        return observed(FetchAnswer(fresh=counts(4), again=again), GIB).wrong

    assert seen(0.995) == ""
    assert seen(0.98) == "only 98.0% of the map output was in the page cache"
    assert cached_share("4096 100\n8192 16384\n") == (100 + 8192) / (100 + 16384)


def test_a_record_too_few_is_found() -> None:
    partition = PartitionSum(records=7, bytes=700, sum="0a")
    right = ClientSum(**partition.model_dump(), spilled=0)
    wrong = right.model_copy(update={"records": 6})
    assert wrong_sums([partition], [right, right]) == ""
    assert "partition 0: 6 records" in wrong_sums([partition], [right, wrong])
    assert "sum 0b were read" in wrong_sums(
        [partition, partition], [right, right.model_copy(update={"sum": "0b"})]
    )


def test_the_rows_are_the_medians_and_each_daemons_ratio_to_its_stock() -> None:
    runs = [made(STOCK, n, cpu) for n, cpu in enumerate((7.0, 8.0, 9.0), 1)]
    runs += [made(DAEMON, n, cpu) for n, cpu in enumerate((2.0, 3.0, 4.0), 1)]
    runs += [made(DAEMON, 1, 5.0, reads=64 << 10), made(DAEMON_TLS, 1, 6.0)]
    runs += [made(STOCK, 1, 5.0, clients=4)]
    found = rows(runs)
    assert len(found) == 5 * len(KINDS)
    assert all(len(row.as_cells()) == len(COLUMNS) for row in found)
    stock, daemon, small, tls = (row.as_json() for row in found[:4])
    assert [stock[key] for key in ("arm", "median", "over", "ratio")] == [STOCK, 17.5, None, None]
    assert [daemon[key] for key in ("arm", "median", "over", "n")] == [DAEMON, 7.5, STOCK, 3]
    assert (daemon["ratio"], daemon["goal"], daemon["met"]) == (round(7.5 / 17.5, 4), 0.4, False)
    assert (small["read_bytes"], small["median"], small["n"]) == (65536, 11.5, 1)
    assert small["ratio"] == round(11.5 / 17.5, 4)
    # Its stock, with TLS, did not run.
    assert (tls["arm"], tls["ratio"], tls["met"]) == (DAEMON_TLS, None, None)
    assert {row.arm.clients for row in found[-len(KINDS) :]} == {4}


def test_accepted_connections_are_the_kernels(tmp_path: Path) -> None:
    (tmp_path / "proc/net").mkdir(parents=True)
    lines = "Ip: A\nIp: 1\nTcp: RtoAlgorithm ActiveOpens PassiveOpens\nTcp: 1 7 5\n"
    (tmp_path / "proc/net/snmp").write_text(lines)
    assert accepted_connections(Root(tmp_path)) == 5


def test_every_arm_has_each_number_of_clients() -> None:
    found = subjects(ARMS, (1, 4), size_bytes=GIB, maps=8, heap_mib=400)
    assert [(it.system, it.clients) for it in found] == [(a, n) for n in (1, 4) for a in ARMS]


def test_sizes_of_reads_are_those_of_segments() -> None:
    found = subjects(ARMS, (1,), (65536, 1 << 20), size_bytes=GIB, maps=8, heap_mib=400)
    reads = {arm: [it.read_bytes for it in found if it.system == arm] for arm in ARMS}
    assert reads[DAEMON] == reads[DAEMON_TLS] == [65536, 1 << 20]
    assert reads[STOCK] == reads[STOCK_TLS] == reads[DAEMON_MERGED] == [None]
    assert found[2].title == "vas-shuffled, reads of 64 KiB, 1 client"


def test_a_dry_run_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "fetch", "--dry-run", "--rounds", "2", "--clients", "1"]) == 0
    printed = capsys.readouterr()
    assert printed.out.count("vas-shuffled, 1 client") == 2
    assert printed.out.count("vas-shuffled, merged, 1 client") == 2
    words = ["--read-size", "64K", "--read-size", "1M", "--arm", DAEMON, "--clients", "1"]
    assert run_command(["bench", "fetch", "--dry-run", "--rounds", "1", *words]) == 0
    assert capsys.readouterr().out.count(" reads of ") == 2
    assert run_command(["bench", "fetch", "--dry-run", "--read-size", "32K"]) == 2
    assert run_command(["bench", "fetch", "--size", "1K", "--dry-run"]) == 2


def _is_missing() -> str:
    try:
        find_shuffled()
        workloads_jar()
        check_machine()
    except NotHere as missing:
        return str(missing)
    return ""


@pytest.mark.machine
@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(300)
def test_all_arms_read_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two clients of each arm over real sockets; every record that they merge is compared."""
    if missing := _is_missing():
        pytest.skip(missing)
    file = tmp_path / "runs.jsonl"
    sizes = ["--size", "16M", "--maps", "4", "--clients", "2", "--read-size", "128K"]
    argv = ["bench", "fetch", "--rounds", "1", *sizes, "--resume", str(file), "--json"]
    assert run_command(argv) == 0
    found: dict[str, dict[str, float]] = {}
    for row in json.loads(capsys.readouterr().out)["rows"]:
        found.setdefault(row["name"], {})[row["arm"]] = row["median"]
    assert {run.system for run in content_of(file).runs} == set(ARMS)
    for name in ("all CPU per GiB", "requests", "connections", "clients' peak memory (PSS)"):
        assert all(value > 0 for value in found[name].values()), name
    # Each node has one connection to the server; a reducer of the daemon writes no record.
    assert found["connections"][DAEMON] == 2
    assert found["records written to clients' disks"][DAEMON] == 0
    # All is there: nothing runs again.
    assert run_command(argv) == 0
