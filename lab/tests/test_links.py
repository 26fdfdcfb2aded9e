"""Who has which bytes, and which of them must cross a link: without a network."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_lab.links.cache import CHUNK, NodeCache
from vas_lab.links.client import LustreClients
from vas_lab.links.request import Kind, LinkRequest
from vas_lab.links.waits import LinkWaits, what_of
from vas_lab.links.wire import Crossing, FileWire
from vas_lab.lustre.mds.board import Board
from vas_lab.lustre.stand_in import LabLustre
from vas_layout.codec import encode
from vas_layout.model import Fid, Magic, Plain, StripeObject

MIB = 1 << 20


class HeldWire(FileWire):
    """A wire whose bytes cross when the test says so."""

    def __post_init__(self) -> None:
        self.held: list[Crossing] = []

    def carry(self, crossing: Crossing) -> None:
        self.held.append(crossing)

    def let_go(self, error: int = 0) -> None:
        crossing = self.held.pop(0)
        crossing.begin()
        crossing.error = error
        os.close(crossing.descriptor)
        crossing.then(crossing)


@pytest.fixture
def wire() -> HeldWire:
    return HeldWire("vm1", "oss2", "10.0.0.2")


@pytest.fixture
def clients(tmp_path: Path, wire: HeldWire) -> LustreClients:
    return LustreClients(tmp_path / "mds.sock", lambda _: "oss2", lambda *_: wire, 64 * MIB)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[int]:
    """A file of 4 MiB on one OST."""
    path = tmp_path / "file"
    path.write_bytes(bytes(4 * MIB))
    stripe = StripeObject(1, Fid(1, 1))
    layout = Plain(
        magic=Magic.V1, pattern=1, stripe_size=MIB, stripe_count=1, stripe_offset=1, layout_gen=0,
        pool=None, objects=(stripe,), owner=(1, 1),
    )  # fmt: skip
    os.setxattr(path, "user.lustre.lov", encode(layout))
    os.setxattr(path, "user.lustre.fid", b"1")
    descriptor = os.open(path, os.O_WRONLY)
    yield descriptor
    os.close(descriptor)


def test_a_cache_has_chunks_from_their_start_on() -> None:
    cache = NodeCache(2 * CHUNK)
    cache.add(b"a", 100, 200)
    assert cache.end_of(b"a", 0) == 0, "bytes behind a hole"
    cache.add(b"a", 0, 150)
    cache.add(b"a", 150, CHUNK + 10)
    assert cache.end_from(b"a", 0, CHUNK + 10) == CHUNK + 10
    assert cache.end_from(b"a", 50, CHUNK + 20) == CHUNK + 10
    assert cache.end_from(b"b", 50, 60) == 50
    assert cache.forget(b"a", CHUNK + 5, CHUNK + 6) and not cache.forget(b"b", 0, 1)
    assert cache.end_from(b"a", 0, CHUNK + 10) == CHUNK + 5
    cache.add(b"b", 0, 1)
    assert cache.end_of(b"a", 0) == 0, "the one used longest ago went"
    cache.clear()
    assert cache.end_of(b"b", 0) == 0


def test_writes_that_follow_one_another_cross_together(
    clients: LustreClients, wire: HeldWire, file: int
) -> None:
    for start in range(0, 5 * MIB, 64 << 10):
        clients.serve("vm1", LinkRequest(Kind.WRITE, start, 64 << 10), file)
    assert [(each.start, each.length) for each in wire.held] == [(0, 4 * MIB), (4 * MIB, MIB)]
    wire.let_go()
    wire.let_go()
    clients.serve("vm1", LinkRequest(Kind.SYNC, 0, 0), file)


def test_a_writer_waits_when_too_much_is_unsent(
    clients: LustreClients, wire: HeldWire, file: int
) -> None:
    for start in range(0, 2 * 64, 2):
        clients.serve("vm1", LinkRequest(Kind.WRITE, start, 1), file)
    assert len(wire.held) == 64
    waiting = threading.Thread(
        target=clients.serve, args=("vm1", LinkRequest(Kind.WRITE, MIB, 1), file)
    )
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive() and len(wire.held) == 64
    wire.let_go()
    waiting.join()
    assert len(wire.held) == 64
    while wire.held:
        wire.let_go()


def test_bytes_that_were_lost_fail_the_fsync_once(
    clients: LustreClients, wire: HeldWire, file: int
) -> None:
    clients.serve("vm1", LinkRequest(Kind.WRITE, 0, 1), file)
    wire.let_go(errno.ECONNRESET)
    with pytest.raises(OSError, match="did not get there"):
        clients.serve("vm1", LinkRequest(Kind.SYNC, 0, 0), file)
    clients.serve("vm1", LinkRequest(Kind.SYNC, 0, 0), file)


def test_bytes_that_do_not_come_fail_the_read(
    clients: LustreClients, wire: HeldWire, file: int
) -> None:
    failed: list[int | None] = []

    def read() -> None:
        try:
            clients.serve("vm1", LinkRequest(Kind.READ, 2 * MIB, 1), file)
        except OSError as wrong:
            failed.append(wrong.errno)

    reading = threading.Thread(target=read)
    reading.start()
    while not wire.held:
        reading.join(0.01)
    assert (wire.held[0].start, wire.held[0].length) == (2 * MIB, MIB)
    wire.let_go(errno.ECONNRESET)
    reading.join()
    assert failed == [errno.EIO]


@pytest.mark.machine
def test_a_lab_after_one_with_links_has_none(tmp_path: Path) -> None:
    lab = LabLustre(state_dir=tmp_path, mount=tmp_path / "data", fsname="lab", osts=[0])
    Board(tmp_path).link(on=True)
    before = (tmp_path / "board").read_bytes()
    lab.prepare()
    assert (tmp_path / "board").read_bytes() != before


@pytest.mark.parametrize(
    ("kind", "path", "what"),
    [
        (Kind.READ, "/lustre/user/ann/input/part-0", "read files"),
        (Kind.WRITE, "/lustre/user/ann/out/_temporary/1/part-r-0", "written files"),
        (Kind.SYNC, "/lustre/user/ann/out/part-r-0", "written files"),
        (Kind.READ, "/lustre/s/job_17_2/shuffle/attempt_17_2_m_1_0/segments", "read map output"),
        (
            Kind.WRITE,
            "/lustre/yarn/local/vm1/usercache/ann/appcache/application_17_2/output/a/file.out",
            "written map output",
        ),
    ],
)
def test_a_wait_is_for_map_output_or_other_files(kind: Kind, path: str, what: str) -> None:
    assert what_of(kind, path) == what


def test_a_wait_that_fails_is_counted_too(file: int) -> None:
    waits = LinkWaits()
    with pytest.raises(OSError), waits.counting(Kind.READ, file):
        raise OSError(errno.EIO, "lost")
    by_what = {each["what"]: each["requests"] for each in waits.totals()}
    assert by_what == {
        "read files": 1, "read map output": 0, "written files": 0, "written map output": 0,
    }  # fmt: skip
