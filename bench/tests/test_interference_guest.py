"""The guest beside a lab: its command line and seed, what it says, its monitor, its pauses."""

from __future__ import annotations

import io
import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from vas_bench.interference.guest import loop
from vas_bench.interference.guest.guest import AnalyticsGuest, job_seconds, parse
from vas_bench.interference.guest.machine import (
    Machine,
    disk_bytes,
    jobs,
    overlay_argv,
    qemu_argv,
    seed,
)
from vas_bench.interference.guest.qmp import Qmp
from vas_bench.interference.sizes import HostSizes
from vas_core.errors import BadInput, VasError
from vas_image.definition import System
from vas_image.image import Image
from vas_yarn.jobs.terasort import TeraSortSizes

IMAGE = Image(
    system=System.DEBIAN_12,
    builder="quick",
    source_date_epoch=0,
    mirror=None,
    kernel_command_line="console=ttyS0",
    boots_by_itself=False,
    virtual_bytes=2 << 30,
    packages=1,
    jars=1,
)
SIZES = HostSizes(host_bytes=4 << 30, guest_bytes=3 << 30, files_bytes=1 << 29, guest_cpus=2)
CUT = TeraSortSizes.of(64 << 20, 2)


def machine(work: Path = Path("/work,1"), *, kvm: bool = False) -> Machine:
    return Machine(Path("/image"), IMAGE, work, SIZES, CUT, "qemu", kvm)


def value(argv: list[str], name: str) -> str:
    return argv[argv.index(name) + 1]


# The machine


@pytest.mark.parametrize("kvm", [False, True])
def test_guest_and_qemu_fit_into_the_guests_group(kvm: bool) -> None:
    argv = qemu_argv(machine(kvm=kvm))
    translated = 0 if kvm else int(value(argv, "-accel").partition("tb-size=")[2])
    memory = int(value(argv, "-m"))
    assert 64 << 20 <= SIZES.guest_bytes - ((memory + translated) << 20) <= 256 << 20
    assert value(argv, "-smp") == "2"
    assert value(argv, "-accel").startswith("kvm" if kvm else "tcg")


def test_its_disk_is_an_overlay_past_the_hosts_page_cache() -> None:
    drive = value(qemu_argv(machine()), "-drive")
    assert "cache=none" in drive and drive.endswith("file=/work,,1/disk.qcow2")
    made = overlay_argv(machine())
    assert value(made, "-b") == "/image/vas-guest.qcow2"
    assert int(made[-1]) == IMAGE.virtual_bytes + disk_bytes(CUT.size_bytes)
    assert "-netdev" not in qemu_argv(machine())


def test_its_seed_starts_the_loop_and_nothing_of_a_sites() -> None:
    found = yaml.safe_load(seed(machine())["user-data"])
    written = {one["path"]: one["content"] for one in found["write_files"]}
    compile(written["/run/vas-loop.py"], "loop", "exec")
    assert json.loads(written[loop.JOBS]) == jobs(machine())
    assert not any(path.startswith("/etc/vas") for path in written)
    name = json.loads(seed(machine())["meta-data"])["local-hostname"]
    assert name in written["/etc/hosts"].split()
    assert found["runcmd"][-1] == ["systemctl", "start", "vas-loop"]


def test_its_job_is_the_labs_terasort_within_its_memory() -> None:
    sort = jobs(machine())["sort"]
    assert "-Dmapreduce.framework.name=local" in sort
    assert f"-Dmapreduce.input.fileinputformat.split.maxsize={CUT.split_bytes}" in sort
    assert sort[-1] == jobs(machine())["output"]
    small = replace(machine(), sizes=replace(SIZES, guest_bytes=1 << 30))
    heap = next(word for word in jobs(small)["sort"] if word.startswith("-Xmx"))
    assert 0 < int(heap.removeprefix("-Xmx").removesuffix("m")) <= small.memory_mib // 2


# What it says


@pytest.mark.machine
@pytest.mark.parametrize(
    ("script", "heard"),
    [
        ("echo 'Job: map 0% reduce 0%'; echo 'Job: map 9% reduce 0%'", [{"at": "maps"}]),
        ("echo starting", []),
    ],
)
def test_maps_are_said_once(script: str, heard: list[Any]) -> None:
    port = io.StringIO()
    assert loop.run(["sh", "-c", script], port) > 0
    assert [json.loads(line) for line in port.getvalue().splitlines()] == heard


@pytest.mark.machine
def test_a_job_that_fails_ends_with_its_last_lines() -> None:
    with pytest.raises(SystemExit, match="no space"):
        loop.run(["sh", "-c", "echo no space >&2; exit 3"], io.StringIO())


def test_only_whole_lines_count() -> None:
    port = io.StringIO()
    for seconds in (4.0, 5.0):
        loop.say(port, at="maps")
        loop.say(port, at="ended", seconds=seconds)
    text = port.getvalue()
    assert job_seconds(parse(text)) == [4.0, 5.0]
    assert job_seconds(parse(text[:-1])) == [4.0]
    assert parse(text[:5]) == []
    with pytest.raises(BadInput, match="word of the guest's"):
        parse("Kernel panic\n")


# The monitor

GREETING = b'{"QMP": {"version": {}}}\n{"return": {}}\n'


def test_the_monitor_passes_by_events() -> None:
    request = io.BytesIO()
    monitor = Qmp(io.BytesIO(GREETING + b'{"event": "STOP"}\n{"return": {}}\n'), request)
    monitor.do("stop")
    said = [json.loads(line)["execute"] for line in request.getvalue().splitlines()]
    assert said == ["qmp_capabilities", "stop"]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        (b"", "QEMU has ended"),
        (b'{"return": {}}\n', "does not greet"),
        (GREETING + b'{"error": {"desc": "no such command"}}\n', "no such command"),
        (GREETING, "QEMU has ended"),
    ],
)
def test_a_monitor_that_answers_otherwise_is_an_error(answers: bytes, said: str) -> None:
    with pytest.raises(VasError, match=said):
        Qmp(io.BytesIO(answers), io.BytesIO()).do("stop")


# Its turns


class Monitor:
    """Its guest says the next lines each time that it goes on, and more once they were read."""

    def __init__(self, file: Path, *then: dict[str, Any]) -> None:
        self.done: list[str] = []
        self._file, self._then = file, then

    def do(self, command: str) -> None:
        self.done.append(command)
        if command == "cont":
            say(self._file, *self._then)


def say(file: Path, *lines: dict[str, Any]) -> None:
    with file.open("a") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)


def guest(tmp_path: Path, *then: dict[str, Any], status: int | None = None) -> AnalyticsGuest:
    made, ended = machine(tmp_path), subprocess.Popen.__new__(subprocess.Popen)
    ended.returncode = status
    ended.poll = lambda: status  # type: ignore[method-assign]
    monitor: Any = Monitor(made.said, *then)
    nothing: Any = None
    return AnalyticsGuest(made, nothing, ended, monitor)


def test_a_turn_lasts_from_the_first_maps_to_the_end_of_the_job_that_then_runs(
    tmp_path: Path,
) -> None:
    it = guest(tmp_path, {"at": "maps"}, {"at": "ended", "seconds": 7})
    say(it.machine.said, {"at": "made", "seconds": 1}, {"at": "ended", "seconds": 99})
    with it.at_work() as seconds:
        assert seconds == []
        say(it.machine.said, {"at": "maps"})
        # What ended before the last look in the body is counted, but not waited for.
        before = it.said()
        it_says_later = {"at": "ended", "seconds": 8}
        original = it.until

        def until(at: str, after: int, limit: float) -> Any:
            assert after == len(before)
            say(it.machine.said, it_says_later)
            return original(at, after, limit)

        object.__setattr__(it, "until", until)
    assert seconds == [7, 8]
    assert it.qmp.done == ["cont", "stop"]  # type: ignore[attr-defined]


def test_it_is_paused_whatever_happens(tmp_path: Path) -> None:
    it = guest(tmp_path, {"at": "maps"})
    with pytest.raises(VasError, match="fio failed"), it.at_work():
        raise VasError("fio failed")
    assert it.qmp.done == ["cont", "stop"]  # type: ignore[attr-defined]


def test_a_job_that_fails_there_fails_the_turn(tmp_path: Path) -> None:
    it = guest(tmp_path, {"at": "failed", "why": "no space"})
    with pytest.raises(VasError, match="no space"), it.at_work():
        pytest.fail("it went on")


def test_a_machine_that_ended_is_found_out(tmp_path: Path) -> None:
    it = guest(tmp_path, status=1)
    it.machine.console.write_text("Kernel panic")
    with pytest.raises(VasError, match="Kernel panic"), it.at_work():
        pytest.fail("it went on")
    assert it.qmp.done == ["cont"]  # type: ignore[attr-defined]
