"""The machine that the tests run on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.jvm import with_jvm_names
from vas_affinity.machine.reading.procfs import RunningProcess, ThreadSample
from vas_affinity.machine.reading.threads import KnownThread
from vas_affinity.machine.snapshot import Thread, ThreadRole
from vas_affinity.watch.record.recording import load_recording
from vas_core.cli import run_command
from vas_core.polling import poll
from vas_core.root import Root

pytestmark = pytest.mark.machine


def test_its_cpus_are_those_of_the_system() -> None:
    topology = read_snapshot(Root()).topology
    assert len(topology.online) == os.sysconf("SC_NPROCESSORS_ONLN")
    assert len(topology.cpus) == os.cpu_count()
    assert set(os.sched_getaffinity(0)) <= set(topology.online)
    assert sum(node.memory_bytes for node in topology.nodes) > 0


def test_interrupts_fire_on_cpus_that_run() -> None:
    snapshot = read_snapshot(Root())
    assert snapshot.interrupts
    online = set(snapshot.topology.online)
    for line in snapshot.interrupts:
        assert set(line.effective) <= online, line


@pytest.fixture
def busy() -> Iterator[int]:
    """A process on CPU 0 that never rests."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        os.sched_setaffinity(process.pid, {0})
        yield process.pid
    finally:
        process.kill()
        process.wait()


def test_a_process_that_works_on_one_cpu(busy: int) -> None:
    def look() -> Thread:
        asked = SnapshotRequest(seconds=0.1, processes=(str(busy),))
        (thread,) = read_snapshot(Root(), asked=asked).threads
        return thread

    thread = poll(look, lambda seen: seen.last_cpu == 0 and bool(seen.cpu), 60, "it to run")
    assert thread.allowed == (0,)
    assert (thread.pid, thread.tid) == (busy, busy)


LONG_NAME = "a name that is longer than fifteen"
JAVA = f"""
public class Sleeper {{
    public static void main(String[] a) throws Exception {{
        Thread t = new Thread(() -> {{ System.out.println("up"); Thread.yield(); await(); }});
        t.setName("{LONG_NAME}");
        t.start();
    }}
    static synchronized void await() {{
        try {{ Sleeper.class.wait(); }} catch (InterruptedException e) {{ }}
    }}
}}
"""


@pytest.mark.slow
def test_the_full_names_of_a_jvm(tmp_path: Path) -> None:
    source = tmp_path / "Sleeper.java"
    source.write_text(JAVA)
    with subprocess.Popen(["java", "-Xmx64m", source], stdout=subprocess.PIPE) as jvm:
        try:
            assert jvm.stdout and jvm.stdout.readline() == b"up\n"
            plain = SnapshotRequest(processes=(str(jvm.pid),))
            names = {t.name: t for t in read_snapshot(Root(), asked=plain).threads}
            assert LONG_NAME[:15] in names and LONG_NAME not in names
            full = SnapshotRequest(processes=(str(jvm.pid),), jvm_names=True)
            named = {t.name: t for t in read_snapshot(Root(), asked=full).threads}
            assert named[LONG_NAME].tid == names[LONG_NAME[:15]].tid
            assert named[LONG_NAME].key == names[LONG_NAME[:15]].key
        finally:
            jvm.kill()


HOSTILE = 'evil [red]\\033[2J\\" nid=0x1 and a name that is longer than a line ' + "x" * 300
WORKS = f"""
public class Works {{
    public static void main(String[] a) throws Exception {{
        Thread t = new Thread(() -> {{
            System.out.println("up");
            while (true) {{ try {{ Thread.sleep(1); }} catch (InterruptedException e) {{ }} }}
        }});
        t.setName("{LONG_NAME}");
        t.start();
        Thread u = new Thread(() -> {{ while (true) Thread.onSpinWait(); }});
        u.setName("{HOSTILE}");
        u.start();
    }}
}}
"""


@pytest.mark.slow
def test_record_top_and_graph_have_the_full_names_of_a_jvm(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, out = tmp_path / "Works.java", tmp_path / "recording"
    source.write_text(WORKS)
    with subprocess.Popen(["java", "-Xmx64m", source], stdout=subprocess.PIPE) as jvm:
        try:
            assert jvm.stdout and jvm.stdout.readline() == b"up\n"
            of = ["-p", str(jvm.pid), "--jvm-names"]
            assert run_command(["affinity", "top", *of, "--once", "--interval", "0.5"]) == 0
            table = capsys.readouterr().out
            assert f"/{LONG_NAME}/0" in table
            assert "evil [red]" in table and "\x1b" not in table
            assert max(map(len, table.splitlines())) < 400
            assert run_command(["affinity", "top", *of, "--json", "--interval", "0.5"]) == 0
            rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
            assert rows[LONG_NAME]["key"].endswith(f"/{LONG_NAME[:15]}/0")
            assert run_command(["affinity", "graph", *of, "--json", "--seconds", "0.5"]) == 0
            names = json.loads(capsys.readouterr().out)["names"]
            assert names[rows[LONG_NAME]["key"]] == LONG_NAME
            words = ["affinity", "record", *of, "--out", str(out), "--seconds", "0.5"]
            assert run_command(words) == 0
            threads = {string.thread.full_name for string in load_recording(out).strings}
            assert LONG_NAME in threads
        finally:
            jvm.kill()


def test_a_jvm_names_its_own_threads_only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program decides what `jcmd` prints of it: this one names a thread of another process."""
    jcmd = tmp_path / "jcmd"
    jcmd.write_text('#!/bin/sh\nprintf \'"mine" nid=11 \\n"taken" nid=22 \\n\'\n')
    jcmd.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    running = [RunningProcess(10, "java", ("java", "A"), 1), RunningProcess(20, "b", ("b",), 1)]
    known = [
        KnownThread(ThreadSample(tid, pid, "short", 1, 0, 0, 0, (0,)), "a/b/0", ThreadRole.SERVICE)
        for tid, pid in ((11, 10), (22, 20))
    ]
    named = with_jvm_names(TreeFiles(Root()), known, running)
    assert [one.name for one in named] == ["mine", None]


def test_show_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["affinity", "show", "--seconds", "0", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    online = [cpu for cpu in data["topology"]["cpus"] if cpu["online"]]
    assert len(online) == os.sysconf("SC_NPROCESSORS_ONLN")


def test_a_plan_of_processes_that_are_not_there_says_so(
    capsys: pytest.CaptureFixture[str],
) -> None:
    words = ["affinity", "plan", "--seconds", "0", "--process", "^no-such-program$"]
    assert run_command(words) == 77
    assert "no process matches ^no-such-program$" in capsys.readouterr().err
