"""The disk that a thread serves, by the completed requests that wake the thread."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vas_affinity.machine.reading import read_snapshot
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.serving import Servers
from vas_affinity.machine.snapshot import DeviceKind, Interrupt, Snapshot, Thread, ThreadRole
from vas_affinity.machine.topology import Cpu, MachineTopology
from vas_affinity.threads import ThreadGraph, read_graph
from vas_affinity.watch.graph.served import ServedDevice, served_devices
from vas_affinity.watch.graph.wakeups import DiskWakes
from vas_affinity.watch.graph.weights import Who
from vas_core.cli import run_command
from vas_core.root import Root

WHO = {1: Who(1, "p/a/0"), 2: Who(1, "p/b/0")}
LINES = (Interrupt(number=30, device="nvme0", kind=DeviceKind.STORAGE, queue=1),)
DISKS = {"259:0": "nvme0", "259:1": "nvme0", "8:0": "sda"}
TOPOLOGY = MachineTopology(
    name="h",
    cpus=tuple(Cpu(number=n, package=n, die=n, node=0, l3=n, l2=n, core=n) for n in range(2)),
)
READER = """
import mmap, os, sys
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
page = mmap.mmap(-1, 4096)
os.write(1, b"ready")
while True:
    for block in range(256):
        os.preadv(file, [page], 4096 * block)
"""


def test_all_disks_of_a_controller_are_one() -> None:
    wakes = [DiskWakes("259:0", 1, 60), DiskWakes("259:1", 1, 40), DiskWakes("8:0", 2, 10)]
    assert served_devices(wakes, 2.0, WHO, DISKS.get) == {
        "p/a/0": ServedDevice("nvme0", 50.0),
        "p/b/0": ServedDevice("sda", 5.0),
    }


@pytest.mark.parametrize(
    "wakes",
    [
        [DiskWakes("259:0", 1, 50), DiskWakes("8:0", 1, 50)],
        [DiskWakes("259:0", 1, 50), DiskWakes("1:0", 1, 50)],  # of one, and one in memory
        [DiskWakes("1:0", 1, 50)],
        [DiskWakes("8:0", 1, 9)],  # too few to know
        [DiskWakes("8:0", 7, 50)],  # a thread that is gone
    ],
)
def test_a_thread_of_several_disks_or_hardly_any_serves_none(wakes: list[DiskWakes]) -> None:
    assert served_devices(wakes, 0.2, WHO, DISKS.get) == {}


def test_a_thread_that_waits_less_than_once_a_second_serves_none() -> None:
    assert served_devices([DiskWakes("8:0", 1, 29)], 30.0, WHO, DISKS.get) == {}


def test_a_graph_names_devices_that_the_machine_has() -> None:
    threads = tuple(
        Thread(tid=n, pid=1, key=key, name="x", role=ThreadRole.SERVICE, device=device)
        for n, (key, device) in enumerate({"a": None, "b": None, "c": "sda", "d": None}.items())
    )
    here = Snapshot(host="h", topology=TOPOLOGY, interrupts=LINES, threads=threads)
    graph = ThreadGraph(devices={"a": "nvme0", "b": "elsewhere", "c": "nvme0"})
    found = graph.named_in(here)
    assert [thread.device for thread in found.threads] == ["nvme0", None, "sda", None]


@contextmanager
def reader(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that reads a file from its disk again and again."""
    file.write_bytes(bytes(1 << 20))
    argv = [sys.executable, "-c", READER, str(file)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout
            if process.stdout.read(5) != b"ready":
                pytest.skip(f"the file system of {file.parent} reads past no cache (O_DIRECT)")
            yield process
        finally:
            process.kill()


@pytest.mark.unhurried
@pytest.mark.machine
def test_who_reads_from_a_disk_serves_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    snapshot = read_snapshot(Root())
    devices = Servers(TreeFiles(Root()), snapshot.devices, snapshot.interrupts)
    number = tmp_path.stat().st_dev
    disk = devices.of_block(f"{os.major(number)}:{os.minor(number)}")
    if disk is None:
        pytest.skip(f"{tmp_path} is on no disk that has interrupts")
    out = tmp_path / "graph.json"
    with reader(tmp_path / "data") as process:
        asked = ["affinity", "graph", "-p", str(process.pid), "--seconds", "2", "--budget", "100"]
        assert run_command([*asked, "--out", str(out)]) == 0
        unread = [one["what"] for one in json.loads(out.read_text())["unread"]]
        if "wake-ups" in unread:
            pytest.skip("the kernel allows no BPF here")
        assert [*read_graph(out).devices.values()] == [disk]
        capsys.readouterr()
        assert run_command([*asked, "--json"]) == 0
        (served,) = json.loads(capsys.readouterr().out)["devices"].values()
        assert served["per_second"] > 10


def test_a_plan_takes_a_thread_for_one_of_its_disk(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    thread = Thread(tid=7, pid=7, key="a", name="x", role=ThreadRole.SERVICE, cpu=0.5, last_cpu=0)
    line = LINES[0].model_copy(update={"effective": (1,), "per_second": 500.0})
    here = Snapshot(host="h", topology=TOPOLOGY, interrupts=(line,), threads=(thread,))
    host, graph = tmp_path / "host.json", tmp_path / "graph.json"
    host.write_text(here.model_dump_json())
    graph.write_text('{"pairs": [], "devices": {"a": {"device": "nvme0", "per_second": 500}}}')
    plan = ["affinity", "plan", "--from", str(host), "--json"]
    for words, cpu in (([], 0), (["--graph", str(graph)], 1)):
        assert run_command([*plan, *words]) == 0
        (pin,) = json.loads(capsys.readouterr().out)["pins"]
        assert pin["cpus"] == [cpu]
