"""The pair table: which places a machine has, what is compared, and a short real run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from vas_affinity.machine.snapshot import DeviceKind, Interrupt, PciDevice, Snapshot
from vas_affinity.machine.topology import Cpu, MachineTopology, NumaNode
from vas_bench.pairs.conduct import PairTable
from vas_bench.pairs.disk import disk_under
from vas_bench.pairs.places import PairPlaces, interrupt_of, pairs_of
from vas_bench.results.record import BenchRun, make_run
from vas_bench.results.systems import DiskPair
from vas_core.cli import run_command
from vas_core.errors import NotHere
from vas_core.root import Root

# The slides' table of two uploads, in its four arrangements of buses and packages.
SLIDES: dict[DiskPair, tuple[float, ...]] = {
    "[DS,DS]": (92, 87, 92, 87),
    "[DS,DC]": (131, 127, 131, 124),
    "[DS,DM]": (126, 121, 124, 120),
    "[DS,DN]": (126, 119, 126, 119),
}


def machine(*, packages: int, caches: int, cores: int, threads: int) -> MachineTopology:
    """Packages of one memory node each, with so many last-level caches of so many cores."""
    cpus, number = [], 0
    for package in range(packages):
        first = number
        for _ in range(caches):
            cache = number
            for _ in range(cores):
                core = number
                for _ in range(threads):
                    cpus.append(
                        Cpu(number=number, package=first, die=first, node=package, l3=cache,
                            l2=core, core=core)
                    )  # fmt: skip
                    number += 1
    nodes = tuple(NumaNode(number=n, memory_bytes=1 << 30) for n in range(packages))
    return MachineTopology(name="made up", cpus=tuple(cpus), nodes=nodes)


def test_a_large_machine_has_all_pairs_of_the_slides() -> None:
    topology = machine(packages=2, caches=2, cores=2, threads=2)
    found, lacking = pairs_of(topology, 5, topology.online)
    assert found == [
        PairPlaces("unpinned"),
        PairPlaces("[DS,DS]", (5, 5)),
        PairPlaces("[DS,DC]", (5, 6)),
        PairPlaces("[DS,DM]", (5, 0)),
        PairPlaces("[DS,DN]", (5, 8)),
    ]
    assert lacking == {}


def test_a_sibling_stands_for_the_cache_only_where_no_core_shares_it() -> None:
    found, lacking = pairs_of(machine(packages=1, caches=1, cores=1, threads=2), 0, (0, 1))
    assert found[2:] == [PairPlaces("[DS,DC]", (0, 1))]
    assert list(lacking) == ["[DS,DM]", "[DS,DN]"]


def test_cpus_that_this_process_may_not_use_are_no_places() -> None:
    topology = machine(packages=2, caches=1, cores=2, threads=1)
    found, lacking = pairs_of(topology, 0, (0, 3))
    assert [pair.name for pair in found] == ["unpinned", "[DS,DS]", "[DS,DN]"]
    assert lacking["[DS,DC]"] == "no other CPU shares its cache"
    with pytest.raises(NotHere, match="CPU 1, which handles the disk's interrupts"):
        pairs_of(topology, 1, (0, 3))
    with pytest.raises(NotHere, match="CPU 99 is not online"):
        pairs_of(topology, 99, (0, 3))


def line(number: int, device: str, per_second: float, *cpus: int) -> Interrupt:
    return Interrupt(
        number=number,
        device=device,
        kind=DeviceKind.STORAGE,
        effective=cpus,
        per_second=per_second,
    )


def test_the_interrupt_is_the_one_that_the_disk_raises_most() -> None:
    topology = machine(packages=1, caches=1, cores=4, threads=1)
    device = PciDevice(
        name="hba0", kind=DeviceKind.STORAGE, address="0000:01:00.0", names=("sda", "sdb")
    )
    lines = (line(9, "hba0", 3.0, 1), line(12, "hba0", 400.0, 3), line(1, "other", 900.0, 2))
    snapshot = Snapshot(host="x", topology=topology, devices=(device,), interrupts=lines)
    assert interrupt_of(snapshot, "sdb").number == 12
    with pytest.raises(NotHere, match="no interrupt of vda fired"):
        interrupt_of(snapshot, "vda")


def test_a_disk_with_a_queue_for_each_cpu_has_no_interrupt_of_its_own() -> None:
    topology = machine(packages=1, caches=1, cores=4, threads=1)
    lines = tuple(line(20 + cpu, "nvme0", 100.0 + cpu, cpu) for cpu in range(4))
    snapshot = Snapshot(host="x", topology=topology, interrupts=lines)
    with pytest.raises(NotHere, match="nvme0 has a queue for each CPU"):
        interrupt_of(snapshot, "nvme0")


def test_a_disk_is_found_below_partitions_and_volumes(tmp_path: Path) -> None:
    sys, device = tmp_path / "sys", tmp_path.stat().st_dev
    disk = sys / "devices/sda"
    (disk / "sda1").mkdir(parents=True)
    (disk / "sda1/partition").touch()
    volume = sys / "devices/virtual/dm-0"
    (volume / "slaves").mkdir(parents=True)
    (volume / "slaves/sda1").symlink_to(disk / "sda1")
    (sys / "dev/block").mkdir(parents=True)
    name = sys / f"dev/block/{os.major(device)}:{os.minor(device)}"
    with pytest.raises(NotHere, match="its file system names no disk"):
        disk_under(Root(tmp_path), tmp_path)
    name.symlink_to(volume)
    assert disk_under(Root(tmp_path), tmp_path) == "sda"
    (volume / "slaves/sda").symlink_to(disk)
    assert disk_under(Root(tmp_path), tmp_path) == "sda"
    (sys / "devices/sdb").mkdir()
    (volume / "slaves/sdb").symlink_to(sys / "devices/sdb")
    with pytest.raises(NotHere, match="several disks are below it: sda, sdb"):
        disk_under(Root(tmp_path), tmp_path)


def made_up(pair: str, number: int, value: float) -> BenchRun:
    measures = {"work_rate": value, "others_cpus": 0.5}
    time = "2026-01-01T00:00:00Z"
    return make_run(id=str(number), time=time, workload="pairs", system=pair, measures=measures)


def test_the_slides_table_says_that_one_cpu_for_two_threads_loses() -> None:
    runs = [made_up(name, n, v) for name, all_ in SLIDES.items() for n, v in enumerate(all_)]
    answers = {one.question: one for one in PairTable([*SLIDES], runs).answers()}
    gain = answers["[DS,DC] against [DS,DS]"]
    assert gain.effect == pytest.approx(43.3, abs=0.1)
    assert all(one.significant(0.05) and one.effect > 30 for one in answers.values())
    # Of a pair with two runs nothing is said, of the others what was said before.
    fewer = PairTable([*SLIDES], runs[:6])
    assert (list(fewer.values), fewer.answers()) == (["[DS,DS]", "[DS,DC]"], [])


@pytest.mark.machine
@pytest.mark.unhurried
def test_uploads_run_at_each_pair_and_leave_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cpu = max(os.sched_getaffinity(0))
    words = ["--runs", "3", "--seconds", "0.05", "--directory", str(tmp_path)]
    words += ["--interrupt-cpu", str(cpu), "--json"]
    assert run_command(["affinity", "pairs", *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"unpinned", "[DS,DS]"} <= set(found["pairs"])
    assert all(one["n"] == 3 and one["mean"] > 0 for one in found["pairs"].values())
    assert list(tmp_path.iterdir()) == []
