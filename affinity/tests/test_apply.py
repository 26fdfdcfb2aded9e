"""Plans made true on this kernel, and given back: threads, interrupts, cgroups."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from vas_affinity.apply import interrupt
from vas_affinity.apply.group import hierarchy
from vas_affinity.apply.host_settings import HostSettings
from vas_affinity.apply.local_host import LocalHost
from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_affinity.apply.thread import ThreadCpus, started
from vas_affinity.machine.cpulist import format_cpulist, parse_cpulist
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_core.journal import Journal
from vas_core.polling import poll
from vas_core.root import Root

ROOT = Root()
CPUS = tuple(sorted(os.sched_getaffinity(0)))
pytestmark = [
    pytest.mark.machine,
    pytest.mark.skipif(len(CPUS) < 2, reason="one CPU: nothing can be moved"),
]
root_only = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


@pytest.fixture
def host(tmp_path: Path) -> LocalHost:
    return LocalHost(tmp_path)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process of its own, that waits to be ended."""
    process = subprocess.Popen(["sleep", "600"])
    yield process
    process.kill()
    process.wait()


def thread_pin(tid: int, *cpus: int, start: int | None = None) -> Pin:
    begun = started(ROOT, tid) if start is None else start
    name = f"test/{tid}/0"
    return Pin(
        target=PinTarget.THREAD, name=name, cpus=cpus, reason="test", tid=tid, start=begun
    )  # fmt: skip


def plan(*pins: Pin) -> HostPlacement:
    return HostPlacement(host="here", pins=pins)


def verdicts(outcomes: list[SettingResult]) -> list[ApplyOutcome]:
    return [outcome.verdict for outcome in outcomes]


def test_a_process_is_moved_and_given_back(
    host: LocalHost, sleeper: subprocess.Popen[bytes]
) -> None:
    wanted = plan(thread_pin(sleeper.pid, CPUS[1]))
    assert verdicts(host.plan(wanted)) == [ApplyOutcome.DIFFERENT]
    assert not host.journal.exists()
    (done,) = host.apply(wanted)
    assert (done.verdict, done.before, done.now) == (
        ApplyOutcome.CHANGED,
        format_cpulist(CPUS),
        str(CPUS[1]),
    )
    assert os.sched_getaffinity(sleeper.pid) == {CPUS[1]}
    assert verdicts(host.apply(wanted)) == [ApplyOutcome.AS_DESIRED]
    assert verdicts(host.rollback()) == [ApplyOutcome.RESTORED]
    assert os.sched_getaffinity(sleeper.pid) == set(CPUS)
    assert host.rollback() == []


def test_one_thread_of_a_process_is_moved_alone(host: LocalHost) -> None:
    ready, end = threading.Event(), threading.Event()
    tids: list[int] = []

    def work() -> None:
        tids.append(threading.get_native_id())
        ready.set()
        end.wait()

    worker = threading.Thread(target=work)
    worker.start()
    try:
        ready.wait()
        host.apply(plan(thread_pin(tids[0], CPUS[0])))
        assert os.sched_getaffinity(tids[0]) == {CPUS[0]}
        assert os.sched_getaffinity(0) == set(CPUS)
    finally:
        end.set()
        worker.join()


def test_a_thread_that_ended_before_is_skipped(
    host: LocalHost, sleeper: subprocess.Popen[bytes]
) -> None:
    wanted = plan(thread_pin(sleeper.pid, CPUS[1]))
    sleeper.kill()
    sleeper.wait()
    (done,) = host.apply(wanted)
    assert (done.verdict, done.why) == (ApplyOutcome.SKIPPED, "the thread has ended")


def test_another_thread_of_that_number_is_left_alone(
    host: LocalHost, sleeper: subprocess.Popen[bytes]
) -> None:
    assert verdicts(host.apply(plan(thread_pin(sleeper.pid, CPUS[1], start=1)))) == [
        ApplyOutcome.SKIPPED
    ]
    assert os.sched_getaffinity(sleeper.pid) == set(CPUS)


def test_a_thread_that_ended_after_is_forgotten_by_the_rollback(
    host: LocalHost, sleeper: subprocess.Popen[bytes]
) -> None:
    host.apply(plan(thread_pin(sleeper.pid, CPUS[1])))
    sleeper.kill()
    sleeper.wait()
    assert verdicts(host.rollback()) == [ApplyOutcome.SKIPPED]
    assert Journal.peek(host.journal) == []


def test_a_rollback_of_nothing_writes_nothing(tmp_path: Path) -> None:
    host = LocalHost(tmp_path / "state")
    assert host.rollback() == []
    assert not host.state.exists()


def test_a_cpu_that_is_not_online_is_said(
    host: LocalHost, sleeper: subprocess.Popen[bytes]
) -> None:
    (done,) = host.apply(plan(thread_pin(sleeper.pid, CPUS[0], 4094)))
    assert (done.verdict, done.why) == (ApplyOutcome.SKIPPED, "CPU 4094 is not online")
    assert os.sched_getaffinity(sleeper.pid) == set(CPUS)


def test_a_thread_that_the_plan_does_not_tell_is_skipped(host: LocalHost) -> None:
    (done,) = host.apply(
        plan(Pin(target=PinTarget.THREAD, name="a/b/0", cpus=(CPUS[0],), reason="test"))
    )
    assert "not made on this host" in done.why


@root_only
def test_a_thread_that_the_kernel_binds_is_immovable(host: LocalHost) -> None:
    bound = [p for p in Path("/proc").glob("[0-9]*/comm") if p.read_text().startswith("migration/")]
    if not bound:
        pytest.skip("no kernel thread is seen in this process namespace")
    tid = int(bound[0].parent.name)
    other = next(cpu for cpu in CPUS if {cpu} != os.sched_getaffinity(tid))
    wanted = plan(thread_pin(tid, other))
    assert verdicts(host.apply(wanted)) == [ApplyOutcome.IMMOVABLE]
    assert Journal.peek(host.journal) == []
    assert verdicts(host.verify(wanted)) == [ApplyOutcome.IMMOVABLE]


def test_a_second_reading_finds_what_the_kernel_did_not_keep(
    host: LocalHost, sleeper: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ThreadCpus, "write", lambda *_: None)
    (done,) = host.apply(plan(thread_pin(sleeper.pid, CPUS[1])))
    assert (done.verdict, done.now) == (ApplyOutcome.DIFFERENT, format_cpulist(CPUS))


def _killed(act: Callable[[], object]) -> None:
    """Runs it in a child, that is to be ended by SIGKILL."""
    child = os.fork()
    if child == 0:
        try:
            act()
        finally:
            os._exit(1)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL


@pytest.mark.parametrize("written", [False, True])
def test_killed_between_remembering_and_confirming(
    written: bool,
    host: LocalHost,
    sleeper: subprocess.Popen[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = ThreadCpus.write

    def fatal(setting: ThreadCpus, value: str | None) -> None:
        if written:
            real(setting, value)
        os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as fault:
        fault.setattr(ThreadCpus, "write", fatal)
        _killed(lambda: host.apply(plan(thread_pin(sleeper.pid, CPUS[1]))))
    assert os.sched_getaffinity(sleeper.pid) == ({CPUS[1]} if written else set(CPUS))
    (entry,) = Journal.peek(host.journal)
    assert (entry.confirmed, entry.original) == (False, format_cpulist(CPUS))
    assert verdicts(host.rollback()) == [ApplyOutcome.RESTORED]
    assert os.sched_getaffinity(sleeper.pid) == set(CPUS)
    assert Journal.peek(host.journal) == []


def test_the_first_value_is_given_back_however_often_it_was_moved(
    host: LocalHost, sleeper: subprocess.Popen[bytes]
) -> None:
    for cpu in (CPUS[0], CPUS[1], CPUS[0]):
        host.apply(plan(thread_pin(sleeper.pid, cpu)))
    host.rollback()
    assert os.sched_getaffinity(sleeper.pid) == set(CPUS)


def test_a_thread_with_another_name_is_the_same(
    host: LocalHost, sleeper: subprocess.Popen[bytes]
) -> None:
    """A thread's ordinal falls when one that started before it has ended."""
    pin = thread_pin(sleeper.pid, CPUS[0])
    host.apply(plan(pin))
    again = pin.model_copy(update={"name": "test/other/1", "cpus": (CPUS[1],)})
    assert verdicts(host.apply(plan(again))) == [ApplyOutcome.CHANGED]
    assert os.sched_getaffinity(sleeper.pid) == {CPUS[1]}
    assert verdicts(host.rollback()) == [ApplyOutcome.RESTORED]
    assert os.sched_getaffinity(sleeper.pid) == set(CPUS)


def _movable() -> Iterator[int]:
    """This machine's interrupts that can be moved, tried by writing what they have."""
    for file in ROOT.glob("proc/irq/[0-9]*/smp_affinity_list"):
        number = int(file.parent.name)
        with suppress(OSError):
            file.write_text(file.read_text())
            if len(parse_cpulist(file.read_text())) > 1 and interrupt.actions(ROOT, number):
                yield number


@root_only
def test_an_interrupt_is_moved_and_given_back(host: LocalHost) -> None:
    number = next(_movable(), None)
    if number is None:
        pytest.skip("no interrupt here can be moved")
    before = ROOT.read(f"proc/irq/{number}/smp_affinity_list")
    wanted = plan(
        Pin(target=PinTarget.INTERRUPT, name=str(number), cpus=(CPUS[1],), reason="test")
    )  # fmt: skip
    try:
        assert verdicts(host.apply(wanted)) == [ApplyOutcome.CHANGED]
        assert ROOT.read(f"proc/irq/{number}/smp_affinity_list") == str(CPUS[1])
    finally:
        assert verdicts(host.rollback()) == [ApplyOutcome.RESTORED]
    assert ROOT.read(f"proc/irq/{number}/smp_affinity_list") == before


def _tree(tmp_path: Path, number: int, action: str) -> Root:
    directory = tmp_path / "proc/irq" / str(number)
    (directory / action).mkdir(parents=True)
    (directory / "smp_affinity_list").write_text("0-3\n")
    return Root(tmp_path)


@pytest.mark.parametrize(("number", "why"), [(1, "manages"), (5, "cannot direct")])
def test_a_managed_interrupt_is_immovable(
    number: int, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """EPERM (1) and EIO (5), as the kernel answers: this machine has none to try it on."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    setting = interrupt.InterruptCpus(9, "nvme0q1", _tree(tmp_path, 9, "nvme0q1"))
    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(interrupt.Immovable, match=why):
        setting.write("0")


def test_an_interrupts_number_that_another_device_got(tmp_path: Path) -> None:
    root = _tree(tmp_path, 9, "eth0-rx-0")
    with pytest.raises(interrupt.Gone):
        interrupt.InterruptCpus(9, "nvme0q1", root).write("0")
    assert root.read("proc/irq/9/smp_affinity_list") == "0-3"


def _pci(root: Root, address: str, *lines: int, link: str | None = None) -> None:
    """A PCI device with these message-signalled interrupts, known by a name in sys/class."""
    at = root.path(f"sys/bus/pci/devices/{address}/msi_irqs")
    at.mkdir(parents=True)
    for line in lines:
        (at / str(line)).write_text("msix\n")
    if link:
        root.path(link).parent.mkdir(parents=True, exist_ok=True)
        root.path(link).symlink_to(f"../../devices/pci0000:00/{address}/{Path(link).name}")


@pytest.mark.parametrize(
    ("device", "its"),
    [("eth0", True), ("0000:00:03.0", True), ("eth0-rx-0", True), ("virtio7", True),
     ("nvme0", False), ("0000:00:04.0", False), ("eth1", False)],
)  # fmt: skip
def test_an_interrupt_of_another_device_than_the_plans(
    device: str, its: bool, tmp_path: Path
) -> None:
    root = _tree(tmp_path, 9, "eth0-rx-0")
    _pci(root, "0000:00:03.0", 8, 9, link="sys/class/net/eth0")
    _pci(root, "0000:00:04.0", 10, link="sys/class/nvme/nvme0")
    root.path("sys/bus/virtio/devices/virtio7").mkdir(parents=True)  # off PCI: nobody can say
    pin = Pin(target=PinTarget.INTERRUPT, name="9", cpus=(1,), reason="test", device=device)
    host = LocalHost(tmp_path / "state", HostSettings(root))
    (found,) = host.plan(plan(pin))
    why = "test" if its else f"it is not one of {device}: make the plan again"
    assert (found.verdict, found.why) == (
        ApplyOutcome.DIFFERENT if its else ApplyOutcome.SKIPPED,
        why,
    )


@pytest.fixture
def group() -> Iterator[str]:
    """A cgroup with CPUs of its own."""
    try:
        base = ROOT.path(hierarchy(ROOT))
        if (base / "cgroup.subtree_control").exists():
            (base / "cgroup.subtree_control").write_text("+cpuset")
        name = f"vas-test-{os.getpid()}"
        (base / name).mkdir()
    except OSError as refused:
        pytest.skip(f"the kernel lets us make no cpuset: {refused}")
    (base / name / "cpuset.cpus").write_text(format_cpulist(CPUS))
    yield name
    (base / name).rmdir()


@root_only
def test_a_cgroup_is_moved_and_given_back(host: LocalHost, group: str) -> None:
    wanted = plan(Pin(target=PinTarget.GROUP, name=f"/{group}", cpus=(CPUS[1],), reason="test"))
    cpus = f"{hierarchy(ROOT)}/{group}/cpuset.cpus"
    assert verdicts(host.apply(wanted)) == [ApplyOutcome.CHANGED]
    assert ROOT.read(cpus) == str(CPUS[1])
    assert verdicts(host.rollback()) == [ApplyOutcome.RESTORED]
    assert ROOT.read(cpus) == format_cpulist(CPUS)


@root_only
def test_a_process_follows_its_cgroup_and_no_farther(
    host: LocalHost, group: str, sleeper: subprocess.Popen[bytes]
) -> None:
    directory = ROOT.path(f"{hierarchy(ROOT)}/{group}")
    mems = directory / "cpuset.mems"
    mems.write_text(mems.read_text().strip() or "0")
    (directory / "cgroup.procs").write_text(str(sleeper.pid))
    host.apply(plan(Pin(target=PinTarget.GROUP, name=group, cpus=(CPUS[1],), reason="test")))
    try:
        assert os.sched_getaffinity(sleeper.pid) == {CPUS[1]}
        outcomes = host.apply(
            plan(
                Pin(target=PinTarget.GROUP, name=group, cpus=(CPUS[1],), reason="test"),
                thread_pin(sleeper.pid, CPUS[0]),
            )
        )
        assert verdicts(outcomes) == [ApplyOutcome.AS_DESIRED, ApplyOutcome.FAILED]
        assert outcomes[1].why == "its cpuset has none of these CPUs"
    finally:
        host.rollback()
        sleeper.kill()
        sleeper.wait()
        poll(lambda: (directory / "cgroup.procs").read_text(), lambda left: not left, 10, "its end")


def test_a_removed_cgroup_is_skipped(host: LocalHost, tmp_path: Path) -> None:
    (done,) = host.apply(
        plan(Pin(target=PinTarget.GROUP, name="no/such/group", cpus=(CPUS[0],), reason="test"))
    )
    assert (done.verdict, done.why) == (ApplyOutcome.SKIPPED, "there is no such cgroup")
