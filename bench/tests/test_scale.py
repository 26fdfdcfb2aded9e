"""The simulated copy: what must hold of any simulation, and what its costs say by arithmetic."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vas_bench.scale.costs import ALL, DAEMON, GIB, MIB, STOCK
from vas_bench.scale.shapes import SimulatedCluster, SimulatedCopy, strong, weak
from vas_bench.scale.simulation import CopyResult, simulate_daemon, simulate_stock
from vas_core.cli import run_command

_SMALL = SimulatedCluster(nodes=5)


def _both(copy: SimulatedCopy, seed: int = 1) -> tuple[CopyResult, CopyResult]:
    return simulate_stock(copy, seed), simulate_daemon(copy, seed)


@settings(max_examples=10, deadline=None)
@given(nodes=st.integers(2, 9), reducers=st.integers(1, 3), mib=st.integers(1, 4000))
def test_all_bytes_arrive_by_as_many_connections_as_the_formulas_say(
    nodes: int, reducers: int, mib: int
) -> None:
    cluster = SimulatedCluster(nodes, reducers_of_node=reducers)
    copy = strong(cluster, mib * MIB)
    stock, daemon = _both(copy)
    whole = copy.partition_bytes * copy.reducers
    assert stock.merged_bytes == daemon.merged_bytes == whole
    assert abs(whole - copy.total_bytes) <= copy.reducers * nodes, "rounded to bytes"
    assert stock.connections_made == stock.requests == copy.fetches
    assert stock.most_connections_open <= 5 * copy.reducers
    assert daemon.connections_made == daemon.most_connections_open == nodes * (nodes - 1)


def test_the_same_seed_gives_the_same_result_and_another_one_another() -> None:
    copy = weak(_SMALL, GIB)
    assert _both(copy, 7) == _both(copy, 7)
    assert len({simulate_stock(copy, seed).seconds for seed in range(8)}) > 1


def test_cpu_is_the_costs_times_the_bytes() -> None:
    copy = weak(_SMALL, GIB)
    for result, costs in zip(_both(copy), (STOCK, DAEMON), strict=True):
        of_byte = (costs.server_cpu.value + costs.client_cpu.value) * copy.total_bytes / GIB
        starts = costs.start_cpu.value * copy.reducers
        assert result.cpu_seconds == pytest.approx(of_byte + starts, rel=1e-6)


def test_no_copy_is_faster_than_its_slowest_queue_alone() -> None:
    for link in (0.1, 1, 10):
        copy = weak(SimulatedCluster(4, link_gbit=link), GIB)
        remote = copy.total_bytes / 4 * 3 / 4
        for result in _both(copy):
            assert result.seconds >= remote / copy.cluster.link_bytes
            assert result.seconds >= copy.total_bytes / 4 / copy.cluster.disk_bytes
            assert result.seconds >= result.cpu_seconds / 4 / copy.cluster.cores


def test_stock_spills_what_does_not_fit_and_the_daemon_passes_only_too_many_segments() -> None:
    little, much = strong(_SMALL, 2 * GIB), strong(_SMALL, 16 * GIB)
    assert simulate_stock(little, 1).written_bytes == 0
    assert simulate_stock(much, 1).written_bytes == much.partition_bytes * much.reducers
    assert simulate_daemon(much, 1).written_bytes == 0
    crowded = strong(SimulatedCluster(5, heap_mib=64), 100 * GIB)
    assert math.isclose(crowded.window_bytes, MIB / 16)
    assert simulate_daemon(crowded, 1).written_bytes == crowded.partition_bytes * crowded.reducers


def test_more_than_the_kept_connections_are_refused() -> None:
    with pytest.raises(ValueError, match="512"):
        simulate_daemon(weak(SimulatedCluster(514), MIB), 1)


def test_every_cost_has_a_source() -> None:
    assert len({cost.name for cost in ALL}) == len(ALL)
    assert all(cost.source and cost.value > 0 for cost in ALL)


def test_the_command_marks_its_rows_as_simulated(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "scale", "--nodes", "3", "--scaling", "strong"]
    assert run_command([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["simulated"] is True
    assert [row["result"]["arm"] for row in told["rows"]] == ["stock", "vas-shuffled"]
    assert run_command(words) == 0
    shown = capsys.readouterr()
    assert "vas-shuffled" in shown.out
    assert "SIMULATED" in shown.err
