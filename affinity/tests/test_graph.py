"""The communication graph: what is counted, what is estimated, what is said to be unknown."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_affinity.machine.reading.tasks import read_gone
from vas_affinity.threads import read_graph
from vas_affinity.watch.graph.btf import member_offsets
from vas_affinity.watch.graph.channels import (
    ChannelKind,
    Channels,
    loopback_pairs,
    parse_tcp,
    read_channels,
)
from vas_affinity.watch.graph.program import (
    MARKS,
    DiskOffsets,
    Maps,
    Offsets,
    assemble_completion,
    assemble_count,
    assemble_mark,
)
from vas_affinity.watch.graph.waits import ThreadWaits, parse_syscall
from vas_affinity.watch.graph.wakeups import Counting, Wakes
from vas_affinity.watch.graph.watch import ThreadWatch
from vas_affinity.watch.graph.weights import (
    ThreadPair,
    Who,
    busiest,
    from_waits,
    from_wakes,
    raised,
)
from vas_affinity.watch.thread_keys import ThreadKeys
from vas_bench.pinning.workload import compile_pipeline
from vas_core.cli import run_command
from vas_core.errors import NotHere
from vas_core.root import Root

WHO = {1: Who(1, "p/a/0"), 2: Who(1, "p/b/0"), 3: Who(3, "q/c/0")}


def btf(structs: Sequence[tuple[str, Sequence[tuple[str, int]]]]) -> bytes:
    """A BTF blob with an integer type, then these structures: (name, (member, bits))."""
    strings = b"\0"
    types = b""

    def place(name: str) -> int:
        nonlocal strings
        strings += name.encode() + b"\0"
        return len(strings) - len(name) - 1

    types += struct.pack("<IIII", place("int"), 1 << 24, 4, 0)
    for name, members in structs:
        types += struct.pack("<III", place(name), 4 << 24 | len(members), 64)
        for member, bits in members:
            types += struct.pack("<III", place(member), 1, bits)
    head = struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, 0, len(types), len(types), len(strings))
    return head + types + strings


def test_members_are_found_in_the_structure_that_is_asked_for() -> None:
    data = btf(
        [("task", [("pid", 8)]), ("task_struct", [("state", 0), ("pid", 96), ("tgid", 128)])]
    )
    wanted = {"task_struct": ("pid", "tgid", "none"), "cred": ("uid",)}
    found = member_offsets(data, wanted)
    assert found == {"task_struct": {"pid": 12, "tgid": 16}, "cred": {}}
    with pytest.raises(ValueError, match="not BTF"):
        member_offsets(bytes(64), wanted)


@given(st.integers(0, 1 << 14), st.integers(0, 1 << 14), st.integers(3, 1 << 20))
def test_jumps_stay_in_the_program(pid: int, tgid: int, descriptor: int) -> None:
    for code in (
        assemble_count(Offsets(pid, tgid), Maps(*(descriptor,) * 4)),
        assemble_completion(DiskOffsets((pid, tgid), 0, 4), descriptor),
        *(assemble_mark(descriptor, bit, entry=e) for bit in MARKS.values() for e in (True, False)),
    ):
        assert len(code) % 8 == 0
        words = [struct.unpack_from("<BBhi", code, at) for at in range(0, len(code), 8)]
        assert words[-1][0] == 0x95, "ends with exit"
        for at, (operation, _, offset, _) in enumerate(words):
            if operation in (0x15, 0x55):
                assert at < at + 1 + offset < len(words)


def test_tcp_ends_of_this_host_are_joined() -> None:
    text = """  sl  local_address rem_address   st tx_queue rx_queue tr tm->when uid timeout inode
   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1
   1: 0100007F:1F90 0100007F:C001 01 00000000:00000000 00:00000000 00000000     0        0 12 1
   2: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 13 1
   3: 0A00000A:C001 0A00000B:1F90 01 00000000:00000000 00:00000000 00000000     0        0 14 1
   4: 0100007F:C002 0100007F:1F90 06 00000000:00000000 00:00000000 00000000     0        0 0 1
"""
    assert loopback_pairs(parse_tcp(text)) == {12: 13, 13: 12}


@pytest.mark.parametrize(
    ("text", "call"),
    [("running", None), ("", None), ("-1 0x7 0x0", None), ("0 0x5 0x7ffe 0x4", (0, 5))],
)
def test_system_calls(text: str, call: tuple[int, int] | None) -> None:
    assert parse_syscall(text) == call


def test_wakes_both_ways_are_one_pair() -> None:
    wakes = [Wakes(1, 2, 30, 0), Wakes(2, 1, 10, 0), Wakes(1, 9, 5, 0), Wakes(1, 1, 5, 0)]
    (pair,) = from_wakes(wakes, 2.0, WHO, Channels(), {})
    assert (pair.a, pair.b, pair.weight) == ("p/a/0", "p/b/0", 20.0)


def test_what_a_softirq_wakes_counts_between_ends_of_a_socket_only() -> None:
    wakes = [Wakes(1, 3, 0, 40)]
    assert from_wakes(wakes, 2.0, WHO, Channels(), {}) == []
    channels = Channels()
    for pid in (1, 3):
        channels.hold(ChannelKind.TCP, "12-13", pid, "rw")
    (pair,) = from_wakes(wakes, 2.0, WHO, channels, {})
    assert pair.weight == 20.0
    assert "share tcp 12-13" in pair.why


def seen(pid: int, tid: int, waits: dict[str, int], rates: Sequence[int]) -> ThreadWaits:
    """One look a second."""
    switches = [sum(rates[:n]) for n in range(len(rates) + 1)]
    times = [float(n) for n in range(len(switches))]
    return ThreadWaits(pid, tid, len(switches), Counter(waits), Counter(), switches, times)


def test_an_estimate_takes_no_thread_for_the_writer_without_a_reason() -> None:
    channels = Channels()
    channels.hold(ChannelKind.PIPE, "7", 1, "w")
    channels.hold(ChannelKind.PIPE, "7", 3, "r")
    waves = [10, 90, 20, 80, 10, 70, 15, 95, 20]
    flat = [50, 51, 49, 50, 52, 50, 48, 50, 51]
    looked = {
        1: seen(1, 1, {}, waves),
        2: seen(1, 2, {}, flat),
        3: seen(3, 3, {"pipe 7": 10}, waves),
    }
    pairs = from_waits(looked, WHO, channels)
    assert [(pair.a, pair.b) for pair in pairs] == [("p/a/0", "q/c/0")]
    assert pairs[0].why[0].startswith("estimated: waits for pipe 7; switches in step, r = 1.00")
    alone = {tid: WHO[tid] for tid in (2, 3)}
    (pair,) = from_waits({2: looked[2], 3: looked[3]}, alone, channels)
    assert pair.why == ("estimated: waits for pipe 7, which it writes",)


def test_a_futex_joins_those_that_wait_for_it() -> None:
    looked = {tid: seen(1, tid, {"futex 1 0x7f00": 5}, [10] * 9) for tid in (1, 2)}
    (pair,) = from_waits(looked, WHO, Channels())
    assert (pair.a, pair.b, pair.weight) == ("p/a/0", "p/b/0", 5.0)


def test_few_looks_give_no_estimate() -> None:
    looked = {tid: seen(1, tid, {"futex 1 0x7f00": 5}, [10] * 5) for tid in (1, 2)}
    assert from_waits(looked, WHO, Channels()) == []


def test_pairs_of_the_busiest_io_threads_weigh_more() -> None:
    busy = busiest({"a": 100e6, "b": 50e6, "c": 49e6, "d": 0.0})
    assert busy == {"a", "b"}
    assert busiest({"a": 1000.0}) == set(), "a thread that hardly reads is no I/O thread"
    found = raised([ThreadPair("c", "d", 3.0, ()), ThreadPair("b", "c", 2.0, ())], busy)
    assert [(pair.a, pair.weight) for pair in found] == [("b", 4.0), ("c", 3.0)]


def test_the_counted_share_follows_its_price() -> None:
    counting = Counting({}, Maps(-1, -1, -1, -1), cpus=1, share=0.5)
    counting.adapt(used=0.02, budget=0.005)
    assert counting.share == 0.125
    counting.adapt(used=0.0, budget=0.005)
    assert counting.share == 0.5
    counting.adapt(used=1000.0, budget=0.005)
    assert counting.share == 0.01


@pytest.mark.machine
def test_pipes_and_sockets_of_a_child_are_found() -> None:
    import socket

    here, there = socket.socketpair()
    with here, there, socket.create_server(("127.0.0.1", 0)) as server:
        client = socket.create_connection(server.getsockname())
        accepted, _ = server.accept()
        with client, accepted:
            kept = (there.fileno(), accepted.fileno())
            with subprocess.Popen(
                [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=kept
            ) as child:
                found = read_channels(Root(), [os.getpid(), child.pid])
                assert child.stdin is not None
                child.stdin.close()
    kinds = {c.kind: c.holders for c in found.between(os.getpid(), child.pid)}
    assert {ChannelKind.PIPE, ChannelKind.UNIX, ChannelKind.TCP} <= set(kinds)
    assert kinds[ChannelKind.PIPE] == {os.getpid(): "w", child.pid: "r"}
    assert found.unread == []


@pytest.fixture(scope="module")
def ring(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], subprocess.Popen[bytes]]:
    """Starts four threads that hand messages on in a ring, for a minute at most."""
    program = compile_pipeline(tmp_path_factory.mktemp("ring"))
    words = [str(program), "4", "60", "pipe", "2", "64"]
    return lambda: subprocess.Popen(words, stdout=subprocess.DEVNULL)


@pytest.mark.unhurried
@pytest.mark.machine
def test_a_ring_is_found(ring: Callable[[], subprocess.Popen[bytes]]) -> None:
    with ring() as process:
        try:
            watch = ThreadWatch(Root(), [process.pid], ThreadKeys.of(Root()), 0.5)
            found = watch.run(1.5, lambda _: None)
        finally:
            process.kill()
    stages = [f"pipeline/stage-{n}/0" for n in range(4)]
    expected = {frozenset((stages[n], stages[(n + 1) % 4])) for n in range(4)}
    heavy = {frozenset((pair.a, pair.b)) for pair in found.pairs[:4]}
    assert found.threads == 5
    if found.overhead.counted:
        assert heavy == expected
        assert found.pairs[3].weight > 10 * sum(pair.weight for pair in found.pairs[4:])
    else:
        assert [one.what for one in found.unread] == ["wake-ups"]
    document = found.as_json()
    parts = {"seconds", "threads", "pairs", "names", "devices", "channels", "unread", "overhead"}
    assert set(document) == parts
    assert set(document["pairs"][0]) == {"a", "b", "weight", "why"}


@pytest.mark.unhurried
@pytest.mark.machine
def test_without_bpf_it_estimates_and_says_so(
    ring: Callable[[], subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise NotHere("bpf(2): not permitted")

    monkeypatch.setattr("vas_affinity.watch.graph.watch.counting", refused)
    with ring() as process:
        try:
            found = ThreadWatch(Root(), [process.pid], ThreadKeys.of(Root()), 0.5).run(
                1.5, lambda _: None
            )
        finally:
            process.kill()
    assert "bpf(2): not permitted: weights are estimates" in found.unread[0].why
    assert all(pair.why[0].startswith("estimated: ") for pair in found.pairs)
    assert found.overhead.kernel == 0.0


@pytest.mark.machine
def test_where_nothing_may_be_looked_at_it_ends_with_a_hint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*_: object) -> None:
        raise NotHere("bpf(2): not permitted")

    def unreadable(root: Root, relative: str) -> str | None:
        if relative.endswith("/syscall"):
            raise PermissionError(13, "Permission denied", relative)
        return read_gone(root, relative)

    monkeypatch.setattr("vas_affinity.watch.graph.watch.counting", refused)
    monkeypatch.setattr("vas_affinity.watch.graph.waits.read_gone", unreadable)
    with pytest.raises(NotHere, match="run as root"):
        ThreadWatch(Root(), [os.getpid()], ThreadKeys.of(Root()), 0.5).run(0.2, lambda _: None)


@pytest.mark.unhurried
@pytest.mark.machine
def test_the_command_writes_what_a_plan_reads(
    ring: Callable[[], subprocess.Popen[bytes]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "graph.json"
    with ring() as process:
        words = ["graph", "-p", f"{process.pid}", "--seconds", "0.3", "--out", str(out)]
        try:
            assert run_command(["affinity", *words]) == 0
        finally:
            process.kill()
    assert all(weight >= 0 for weight in read_graph(out).pairs.values())
    assert json.loads(out.read_text())["overhead"]["budget"] == 0.01
    said = capsys.readouterr()
    assert said.out == ""
    assert "of a CPU" in said.err
    assert run_command(["affinity", "graph", "-p", "no-such-process-at-all-"]) == 77
