"""Threads of guests and of the processes that a user names."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from host_trees import cpus, task, write

from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.guests import parse_domain, threads_of
from vas_affinity.machine.reading.jvm import parse_dump
from vas_affinity.machine.reading.procfs import ThreadSample, main_class, processes, switches, uses
from vas_affinity.machine.reading.threads import measured
from vas_affinity.machine.snapshot import LibvirtGuest, Snapshot, ThreadRole
from vas_core.errors import BadInput
from vas_core.root import Root

NODE_MANAGER = ("/usr/bin/java", "-cp", "a:b", "-Xmx1g", "org.apache.hadoop.yarn.NodeManager")
DOMAIN = (Path(__file__).parent / "domain.xml").read_text()
QEMU = ("qemu-system-x86_64", "-name", "guest=vm1", "-uuid", "6f3c1f0e-8a51-5d34-9d3b-000000000001")


@pytest.fixture
def host(tmp_path: Path) -> Path:
    files = cpus(2) | task(50, 50, "java", arguments=NODE_MANAGER, last_cpu=1)
    files |= task(50, 52, "C2 CompilerThre") | task(50, 51, "IPC Server hand")
    files |= task(50, 53, "IPC Server hand") | task(60, 60, "ll_ost_io00_001")
    return write(tmp_path, files)


def snapshot(host: Path, *patterns: str) -> Snapshot:
    return read_snapshot(Root(host), name="host", asked=SnapshotRequest(processes=patterns))


def test_threads_of_a_named_process(host: Path) -> None:
    threads = snapshot(host, "NodeManager").threads
    assert [(thread.tid, thread.key) for thread in threads] == [
        (50, "NodeManager/java/0"),
        (51, "NodeManager/IPC Server hand/0"),
        (52, "NodeManager/C2 CompilerThre/0"),
        (53, "NodeManager/IPC Server hand/1"),
    ]
    assert {(thread.role, thread.cpu, thread.allowed) for thread in threads} == {
        (ThreadRole.SERVICE, None, (0, 1))
    }
    assert threads[0].last_cpu == 1


def test_a_kernel_thread_of_lustre_is_storage(host: Path) -> None:
    (thread,) = snapshot(host, "^ll_ost").threads
    assert (thread.key, thread.role) == ("ll_ost_io00_001/ll_ost_io00_001/0", ThreadRole.STORAGE)


def test_a_process_by_its_number_and_none_twice(host: Path) -> None:
    assert {thread.pid for thread in snapshot(host, "60").threads} == {60}
    assert len(snapshot(host, "60", "^ll_ost").threads) == 1


def test_nothing_that_matches_is_said(host: Path) -> None:
    found = snapshot(host, "DataNode")
    assert found.threads == ()
    assert "process 'DataNode'" in {unread.what for unread in found.unread}


def test_a_pattern_that_is_none(host: Path) -> None:
    with pytest.raises(BadInput, match="not a regular expression"):
        snapshot(host, "(")


def test_who_asks_is_not_meant(host: Path) -> None:
    me = os.getpid()
    write(host, task(me, me, "vas", arguments=("vas", "--process", "NodeManager")))
    assert {thread.pid for thread in snapshot(host, "NodeManager").threads} == {50}


def test_use_and_switches_are_measured_over_the_interval(host: Path) -> None:
    def at(ns: int, left: int, start: int = 100) -> ThreadSample:
        return ThreadSample(7, 7, "x", start, ns, left, 0, (0,))

    before, after = [at(10**9, 5)], [at(3 * 10**9, 25)]
    assert uses(before, after, 4.0) == {7: 0.5}
    assert switches(before, after, 4.0) == {7: 5.0}
    assert uses(before, [at(3 * 10**9, 25, start=101)], 4.0) == {}
    assert uses(before, after, 0.0) == {}


def test_a_thread_that_ended_meanwhile_stays_as_it_was(host: Path) -> None:
    def pause(_: float) -> None:
        for path in (host / "proc/50/task/52").iterdir():
            path.unlink()
        write(host, task(50, 51, "IPC Server hand", cpu_ns=10**6, last_cpu=1))

    asked = SnapshotRequest(seconds=0.001, processes=("NodeManager",))
    found = read_snapshot(Root(host), name="host", asked=asked, pause=pause).threads
    by_tid = {thread.tid: thread for thread in found}
    assert by_tid[52].cpu is None
    assert by_tid[51].cpu and by_tid[51].last_cpu == 1
    assert by_tid[50].cpu == 0


def test_a_name_may_hold_anything(tmp_path: Path) -> None:
    write(tmp_path, cpus(1) | task(9, 9, "a) b (c"))
    (found,) = processes(TreeFiles(Root(tmp_path)))
    assert (found.name, found.parent) == ("a) b (c", 1)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        (NODE_MANAGER, "NodeManager"),
        (("java", "-Xmx1g", "-jar", "/opt/x/dist.jar", "run"), "dist"),
        (("java", "@launch", "org.x.YarnChild", "1"), "YarnChild"),
        (("java", "-version"), None),
        (("python3", "x.py"), None),
        ((), None),
    ],
)
def test_a_jvm_is_known_by_what_it_runs(arguments: tuple[str, ...], name: str | None) -> None:
    assert main_class(arguments) == name


def test_a_dump_of_jcmd() -> None:
    text = (
        '"main" #1 prio=5 os_prio=0 cpu=1ms tid=0x00007f nid=0x1f runnable [0x0]\n'
        '"IPC Server handler 3 on default port 8041" #77 [99] daemon tid=0x1 nid=98 waiting\n'
        "   java.lang.Thread.State: RUNNABLE\n"
    )
    assert parse_dump(text) == {31: "main", 98: "IPC Server handler 3 on default port 8041"}


def test_a_name_of_a_thread_is_read_in_one_pass_and_forges_no_number() -> None:
    """A job names its threads: 40 KB of quotation marks took 19 s, and more took far longer."""
    hostile, own = '" ' * 200_000, " #1 tid=0x1 nid=0x1f runnable"
    began = time.monotonic()
    assert parse_dump(f'"{hostile}\n"{hostile}"{own}\n') == {31: hostile}
    assert time.monotonic() - began < 5
    forged = 'x" #2 tid=0x1 nid=7 runnable'
    assert parse_dump(f'"{forged}"{own}\n"z" nid=007\n"z" nid={"9" * 5000}\n') == {31: forged}


def guest() -> LibvirtGuest:
    return parse_domain(DOMAIN, running=True, where="vm1")


def test_a_domain() -> None:
    assert guest() == LibvirtGuest(
        name="vm1",
        uuid="6f3c1f0e-8a51-5d34-9d3b-000000000001",
        running=True,
        vcpus=2,
        memory_bytes=512 << 20,
        iothreads=(1, 4),
        pins={
            "vm1/vcpu/0": "2-3",
            "vm1/vcpu/1": "^0,1",
            "vm1/emulator": "0",
            "vm1/iothread/4": "1",
        },
    )


@pytest.mark.parametrize("xml", ["<network/>", "<domain><name>x</name></domain>", "nothing"])
def test_what_is_no_domain(xml: str) -> None:
    with pytest.raises(BadInput, match=r"^x: "):
        parse_domain(xml, running=False, where="x")


def test_threads_of_a_guest(tmp_path: Path) -> None:
    names = {70: "qemu-system-x86", 71: "CPU 0/KVM", 72: "CPU 1/TCG", 73: "IO iothread4"}
    names |= {74: "IO mon_iothread", 75: "worker", 76: "worker"}
    files = cpus(2)
    for tid, name in names.items():
        files |= task(70, tid, name, arguments=QEMU)
    files |= task(80, 80, "vhost-70") | task(81, 81, "vhost-99")
    seen = TreeFiles(Root(write(tmp_path, files)))
    known = threads_of(seen, guest(), processes(seen))
    assert {thread.tid: (thread.key, thread.role) for thread in measured(known, [], 0.0)} == {
        70: ("vm1/emulator", ThreadRole.EMULATOR),
        71: ("vm1/vcpu/0", ThreadRole.VCPU),
        72: ("vm1/vcpu/1", ThreadRole.VCPU),
        73: ("vm1/iothread/4", ThreadRole.IOTHREAD),
        74: ("vm1/emulator/IO mon_iothread/0", ThreadRole.EMULATOR),
        75: ("vm1/emulator/worker/0", ThreadRole.EMULATOR),
        76: ("vm1/emulator/worker/1", ThreadRole.EMULATOR),
        80: ("vm1/vhost/0", ThreadRole.VHOST),
    }
    assert seen.unread == []


def test_a_guest_whose_threads_have_no_names(tmp_path: Path) -> None:
    seen = TreeFiles(
        Root(write(tmp_path, cpus(2) | task(70, 70, "qemu-system-x86", arguments=QEMU)))
    )
    threads_of(seen, guest(), processes(seen))
    assert [unread.what for unread in seen.unread] == ["vCPU threads of guest vm1"]


def test_a_guest_whose_process_is_not_seen(tmp_path: Path) -> None:
    seen = TreeFiles(Root(write(tmp_path, cpus(2))))
    assert threads_of(seen, guest(), []) == []
    assert [unread.what for unread in seen.unread] == ["threads of guest vm1"]
