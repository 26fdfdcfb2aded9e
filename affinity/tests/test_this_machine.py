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
from vas_affinity.machine.snapshot import Thread
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
