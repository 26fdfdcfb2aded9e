"""A lab in which distance costs: bytes of files cross its network, and the kernel counts them."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_core.process import CommandFailed, run
from vas_lab.control import ControlRequest
from vas_lab.lab import Lab
from vas_lab.links.totals import WireBytes
from vas_lab.options import LabOptions
from vas_lab.spec import LabLinks
from vas_routing.links import Leg

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.timeout(400)]
MIB = 1 << 20
SIZE = 24 * MIB
REPOSITORY = Path(__file__).parents[1]
# TCP's and IP's headers, and acknowledgements the other way, are a few in a hundred.
HEADERS = 1.08
SLACK = 64 << 10


@pytest.fixture(scope="module")
def far_lab() -> Iterator[Lab]:
    """Two hosts whose links are honest."""
    options = LabOptions(
        state_dir=REPOSITORY / "build/lab/links", hosts=2, links=LabLinks.HONEST, plain=True
    )
    with Lab.start(options, tied=True) as started:
        yield started


@pytest.fixture
def file(far_lab: Lab, request: pytest.FixtureRequest) -> str:
    """A file on OST 1, which is oss2's; no node has it in its cache."""
    path = f"{far_lab.spec.cluster.lustre.mount}/{request.node.name}"
    make(far_lab, path, "-i", "1", "-c", "1")
    write(far_lab, "oss2", path)
    far_lab.link_totals(drop_caches=True)
    return path


def on(lab: Lab, node: str, argv: Sequence[str]) -> str:
    return run(lab.enter(argv, node=node)).stdout


def make(lab: Lab, path: str, *words: str) -> None:
    """Makes an empty file with a layout; the lab before may have left one of its name."""
    on(lab, "oss1", ["rm", "-f", path])
    on(lab, "oss1", ["lfs", "setstripe", *words, path])


def write(lab: Lab, node: str, path: str, *words: str) -> None:
    options = [f"of={path}", "bs=1M", "conv=fsync,notrunc", f"count={SIZE // MIB}", *words]
    on(lab, node, ["dd", "if=/dev/urandom", *options, "status=none"])


def read(lab: Lab, node: str, path: str, *words: str) -> None:
    on(lab, node, ["dd", f"if={path}", "of=/dev/null", "bs=128K", "status=none", *words])


def moved(lab: Lab, guest: str, leg: Leg) -> tuple[int, int]:
    """The bytes that a guest got and sent by a leg, as the kernel counts them."""
    answer = lab.ask(ControlRequest(ask="status"))
    found = next(each for each in answer.paths if (each.node, each.leg) == (guest, leg))
    return found.rx_bytes, found.tx_bytes


def carried(lab: Lab, client: str, server: str) -> tuple[int, int]:
    """The bytes of files that a client read from a server and wrote to it."""
    wires = lab.link_totals().wires
    ends = [each for each in wires if (each.client, each.server) == (client, server)]
    total = ends[0] if ends else WireBytes(client, server, 0, 0)
    return total.read, total.written


def grown(after: tuple[int, int], before: tuple[int, int]) -> tuple[int, int]:
    return after[0] - before[0], after[1] - before[1]


def is_about(found: int, expected: int) -> bool:
    return expected <= found <= expected * HEADERS + SLACK


@pytest.mark.parametrize(
    ("guest", "leg", "other"), [("vm1", Leg.SRIOV, Leg.VIRTIO), ("vm2", Leg.VIRTIO, Leg.SRIOV)]
)
def test_what_a_guest_reads_crosses_the_leg_to_its_server_once(
    far_lab: Lab, file: str, guest: str, leg: Leg, other: Leg
) -> None:
    near, far = moved(far_lab, guest, leg), moved(far_lab, guest, other)
    read(far_lab, guest, file)
    came, _ = grown(moved(far_lab, guest, leg), near)
    assert is_about(came, SIZE)
    assert grown(moved(far_lab, guest, other), far)[0] < SLACK
    again = carried(far_lab, guest, "oss2")
    read(far_lab, guest, file)
    assert carried(far_lab, guest, "oss2") == again, "it is in the guest's page cache"
    far_lab.link_totals(drop_caches=True)
    read(far_lab, guest, file)
    assert grown(carried(far_lab, guest, "oss2"), again) == (SIZE, 0)


def test_one_guests_cache_is_not_anothers(far_lab: Lab, file: str) -> None:
    before = carried(far_lab, "vm2", "oss2")
    for guest in ("vm1", "vm2"):
        read(far_lab, guest, file)
    assert grown(carried(far_lab, "vm2", "oss2"), before) == (SIZE, 0)


def test_what_a_guest_writes_crosses_before_an_fsync_ends(far_lab: Lab, file: str) -> None:
    near, before = moved(far_lab, "vm1", Leg.SRIOV), carried(far_lab, "vm1", "oss2")
    write(far_lab, "vm1", file)
    assert grown(carried(far_lab, "vm1", "oss2"), before) == (0, SIZE)
    assert is_about(grown(moved(far_lab, "vm1", Leg.SRIOV), near)[1], SIZE)
    read(far_lab, "vm1", file)
    assert grown(carried(far_lab, "vm1", "oss2"), before) == (0, SIZE), "it has what it wrote"


def test_what_another_node_wrote_is_fetched_anew(far_lab: Lab, file: str) -> None:
    read(far_lab, "vm1", file)
    before = carried(far_lab, "vm1", "oss2")
    write(far_lab, "vm2", file, "seek=3", "count=2")
    read(far_lab, "vm1", file)
    assert grown(carried(far_lab, "vm1", "oss2"), before) == (2 * MIB, 0)


def test_a_part_costs_what_it_is_and_only_its_reader_in_order_is_read_ahead(
    far_lab: Lab, file: str
) -> None:
    before = carried(far_lab, "vm1", "oss2")
    read(far_lab, "vm1", file, "skip=100", "count=1")
    assert grown(carried(far_lab, "vm1", "oss2"), before) == (MIB, 0)


def test_stripes_of_both_hosts_go_their_own_ways(far_lab: Lab) -> None:
    path = f"{far_lab.spec.cluster.lustre.mount}/striped"
    make(far_lab, path, "-i", "0", "-c", "2", "-S", "1M")
    write(far_lab, "oss1", path)
    far_lab.link_totals(drop_caches=True)
    before = {host: carried(far_lab, "vm1", host) for host in ("oss1", "oss2")}
    read(far_lab, "vm1", path)
    after = {host: grown(carried(far_lab, "vm1", host), before[host]) for host in before}
    assert after == {"oss1": (SIZE // 2, 0), "oss2": (SIZE // 2, 0)}


def test_a_file_that_grows_into_new_objects_is_written_to_them(far_lab: Lab) -> None:
    path = f"{far_lab.spec.cluster.lustre.mount}/progressive"
    make(far_lab, path, *("-E", "1M", "-c", "1", "-i", "1"), *("-E", "-1", "-c", "1", "-i", "0"))
    before = {host: carried(far_lab, "vm1", host) for host in ("oss1", "oss2")}
    write(far_lab, "vm1", path)
    after = {host: grown(carried(far_lab, "vm1", host), before[host]) for host in before}
    assert after == {"oss1": (0, SIZE - MIB), "oss2": (0, MIB)}


def test_a_host_reads_its_own_disk_without_a_link(far_lab: Lab, file: str) -> None:
    before = far_lab.link_totals().wires
    read(far_lab, "oss2", file)
    assert far_lab.link_totals().wires == before


@pytest.mark.parametrize("leaves", ["os.close(file)", "os.dup2(null, file)", "sys.exit(0)"])
def test_small_writes_are_told_in_parts_and_all_of_them(far_lab: Lab, leaves: str) -> None:
    path = f"{far_lab.spec.cluster.lustre.mount}/small-writes"
    make(far_lab, path, "-i", "1", "-c", "1")
    before = carried(far_lab, "vm1", "oss2")
    asked = sum(each.requests for each in far_lab.link_totals().waits)
    pieces = 5 * MIB // 1000
    code = (
        f"import os, sys; file = os.open({path!r}, os.O_WRONLY); null = os.open('/dev/null', 0);"
        f"[os.write(file, bytes(1000)) for _ in range({pieces})]; {leaves}; os._exit(0)"
    )
    on(far_lab, "vm1", [sys.executable, "-c", code])
    poll(
        lambda: grown(carried(far_lab, "vm1", "oss2"), before),
        lambda found: found == (0, 1000 * pieces),
        10.0,
        "all bytes cross",
    )
    assert sum(each.requests for each in far_lab.link_totals().waits) - asked < 10


def test_waits_are_counted_by_what_was_read_or_written(far_lab: Lab, file: str) -> None:
    folder = f"{far_lab.spec.cluster.lustre.mount}/waits/job_1_2/shuffle"
    on(far_lab, "vm1", ["mkdir", "-p", folder])
    make(far_lab, f"{folder}/segments", "-i", "1", "-c", "1")
    before = {each.what: each for each in far_lab.link_totals().waits}
    read(far_lab, "vm1", file)
    write(far_lab, "vm1", f"{folder}/segments")
    after = {each.what: each for each in far_lab.link_totals().waits}
    waited = {what for what in after if after[what].seconds > before[what].seconds}
    assert waited == {"read files", "written map output"}
    # A wait for 24 MiB at the leg's rate, not more than all requests together may last.
    assert after["read files"].requests > before["read files"].requests


def test_without_the_links_a_read_fails_and_does_not_lie(far_lab: Lab, file: str) -> None:
    far_lab.ask(ControlRequest(ask="signal", daemon="links", signal=signal.SIGKILL))
    with pytest.raises(CommandFailed, match="Input/output error"):
        read(far_lab, "vm1", file)
    poll(lambda: far_lab.problems(), lambda found: "links" in str(found), 20.0, "a problem is told")
    far_lab.ask(ControlRequest(ask="start", daemon="links"))
    poll(
        lambda: on(far_lab, "vm1", ["sh", "-c", f"cat {file} | wc -c || :"]).strip(),
        lambda text: text == str(SIZE),
        20.0,
        "the links are back",
    )
