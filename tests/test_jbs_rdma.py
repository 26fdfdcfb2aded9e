"""vas-shuffled by real verbs: daemons on addresses of a machine's software RDMA device.

What `--rdma on` fetches cannot have gone by TCP, and the device's own counters show that it left
by that device (rdma_rxe).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vas_core.polling import poll
from vas_core.repository import REPOSITORY
from vas_tests.rdma.machine import PACKET, RdmaMachine, missing, running

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(1800),
]

MIB = 1 << 20
SIZES = (0, 1, 12_345, 4 * MIB + 1, 64 * MIB)
LARGEST = len(SIZES) - 1
ASKS, SERVES, OTHERS, PLAIN, AUTO = 1, 2, range(3, 8), 8, 9
MOST_PEERS = 4
SECONDS = 120.0
UNREACHABLE = "refused: 5 "


@pytest.fixture(scope="module")
def machine() -> Iterator[RdmaMachine]:
    """The machine, with one daemon that asks by RDMA alone and one that serves."""
    if lacking := missing():
        pytest.skip(f"no RDMA device without {'; '.join(lacking)}")
    with running(REPOSITORY / "build" / "rdma", nodes=AUTO) as booted:
        booted.serve(ASKS, "--rdma", "on", "--peers", str(MOST_PEERS))
        booted.serve(SERVES, "--rdma", "on")
        yield booted


@pytest.fixture(scope="module")
def sums(machine: RdmaMachine) -> list[str]:
    """The SHA-256 of each segment that the serving node has."""
    return machine.write(SERVES, *SIZES)


@pytest.fixture(autouse=True)
def explained(machine: RdmaMachine, request: pytest.FixtureRequest) -> Iterator[None]:
    """Says what the device and the daemons had when a test failed."""
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        print(machine.counters(), machine.node.run("rdma", "resource", "show", "qp"))
        print(machine.lines(ASKS), machine.lines(SERVES), sep="\n")
        print(machine.node.run("sh", "-c", "dmesg | tail -20"))


def test_segments_of_every_size_arrive(machine: RdmaMachine, sums: list[str]) -> None:
    for partition, right in enumerate(sums):
        assert machine.fetch(ASKS, partition, machine.address(SERVES)) == [right], SIZES[partition]
    assert machine.queue_pairs(ASKS) == 1  # one kept connection for all of them


def test_the_bytes_left_by_verbs(machine: RdmaMachine, sums: list[str]) -> None:
    before = machine.counters()
    fetched = machine.fetch(ASKS, LARGEST, machine.address(SERVES))
    grown = {name: count - before[name] for name, count in machine.counters().items()}
    packets = SIZES[LARGEST] // PACKET
    assert fetched == [sums[LARGEST]]
    assert packets <= grown["sent_pkts"] < 2 * packets, grown
    assert packets <= grown["rcvd_pkts"] < 2 * packets, grown
    # Each of the device's messages carries 32 KiB at most.
    assert SIZES[LARGEST] >> 15 <= grown["rdma_recvs"] < SIZES[LARGEST] >> 14, grown
    assert machine.tcp_connections() == 0


def test_a_node_that_is_killed_is_lost_and_comes_back(
    machine: RdmaMachine, sums: list[str]
) -> None:
    before = machine.counters()["rcvd_pkts"]
    machine.start_fetch(ASKS, LARGEST, machine.address(SERVES))
    poll(
        lambda: machine.counters()["rcvd_pkts"] - before,
        lambda count: count > 1000,
        SECONDS,
        "a part of the segment",
    )
    machine.kill(SERVES)
    (line,) = machine.finish_fetch()
    assert line.startswith(UNREACHABLE), line
    assert machine.fetch(ASKS, 1, machine.address(SERVES))[0].startswith(UNREACHABLE)
    machine.serve(SERVES, "--rdma", "on")
    assert machine.fetch(ASKS, 3, machine.address(SERVES)) == [sums[3]]
    assert machine.tcp_connections() == 0


def test_more_nodes_than_connections_are_asked_in_turn(
    machine: RdmaMachine, sums: list[str]
) -> None:
    right = {machine.address(SERVES): sums[2]}
    for number in OTHERS:
        host = machine.serve(number, "--rdma", "on")
        right[host] = machine.write(number, *SIZES[:3])[2]
    assert len(right) > MOST_PEERS
    for _ in range(2):
        assert machine.fetch(ASKS, 2, *right) == list(right.values())
    poll(
        lambda: machine.queue_pairs(ASKS),
        lambda pairs: pairs == MOST_PEERS,
        SECONDS,
        "queue pairs of ended connections to go",
    )
    assert machine.tcp_connections() == 0


def test_a_node_without_rdma_is_reached_by_tcp(machine: RdmaMachine, sums: list[str]) -> None:
    machine.serve(AUTO, "--rdma", "auto")
    host = machine.serve(PLAIN, "--rdma", "off")
    right = machine.write(PLAIN, *SIZES[:4])[3]
    assert machine.fetch(AUTO, 3, host, machine.address(SERVES)) == [right, sums[3]]
    assert machine.lines(AUTO).count("RDMA does not reach a node, TCP does") == 1
    assert machine.queue_pairs(AUTO) == 1
    assert machine.tcp_connections() > 0
