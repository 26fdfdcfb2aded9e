"""libvirt's hook places the real threads of a guest that has started, whatever its files hold."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from host_trees import cpus, task, write
from prometheus_client import CollectorRegistry, generate_latest
from started_guests import CPUS, HOST, Hook, RunningGuest, plan, running

from vas_affinity.daemon.decide import DaemonState
from vas_affinity.daemon.inputs import DaemonInputs
from vas_affinity.daemon.saved_state import write_state
from vas_affinity.daemon.settings import AffinitySettings
from vas_affinity.guest_start.counts import StartCounts, count
from vas_affinity.guest_start.cpus import ThreadPlaces
from vas_affinity.guest_start.ladder import Chosen, Ladder, StartFiles
from vas_affinity.guest_start.rung import StartRung
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.guests import parse_domain
from vas_affinity.machine.reading.procfs import processes
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_core.cli import run_command
from vas_core.lastgood import LastGood
from vas_core.root import Root

pytestmark = [
    pytest.mark.machine,
    pytest.mark.unhurried,
    pytest.mark.skipif(len(CPUS) < 2, reason="one CPU: nothing can be moved"),
]
LAST, FIRST = {CPUS[-1]}, {CPUS[0]}
PLANNED = {
    "CPU 0/KVM": LAST,
    "CPU 1/KVM": LAST,
    "IO iothread1": LAST,
    "vhost": FIRST,
    "main": FIRST,
}


@pytest.fixture
def guest() -> Iterator[RunningGuest]:
    with running() as found:
        yield found


@pytest.fixture
def hook(tmp_path: Path) -> Hook:
    return Hook(tmp_path)


def in_force(hook: Hook, placement: HostPlacement) -> None:
    write_state(hook.state, DaemonState(in_force=placement))


def in_file(hook: Hook, placement: HostPlacement) -> None:
    hook.plan.write_text(placement.model_dump_json())


def kept(hook: Hook, placement: HostPlacement) -> None:
    LastGood(hook.kept, DaemonInputs).write(
        DaemonInputs(plan=placement, settings=AffinitySettings())
    )


SOURCES = {"in-force": in_force, "plan": in_file, "last-good": kept}


@pytest.mark.parametrize("rung", SOURCES)
def test_each_plan_places_every_thread_and_is_counted(
    hook: Hook, guest: RunningGuest, rung: str
) -> None:
    SOURCES[rung](hook, plan())
    hook.started(guest.name, guest.xml)
    assert guest.where() == PLANNED
    assert hook.counted() == {rung: 1}
    (line,) = hook.lines()
    above = list(SOURCES)[: list(SOURCES).index(rung)]
    assert line.startswith(f"vm1: 5 of 5 threads by {rung}")
    assert all(f"; {other}: " in line for other in above)
    assert not hook.asked.exists()


def test_a_plan_names_the_cpus_of_its_vhost_threads(hook: Hook, guest: RunningGuest) -> None:
    pin = Pin(target=PinTarget.THREAD, name="vm1/vhost/0", cpus=(CPUS[-1],), reason="", guest="vm1")
    in_file(hook, plan(others=[pin]))
    hook.started(guest.name, guest.xml)
    assert guest.where() == PLANNED | {"vhost": LAST}


def test_a_rollback_restores_them_and_an_ended_guest_is_forgotten(
    hook: Hook, guest: RunningGuest
) -> None:
    before = guest.where()
    in_file(hook, plan())
    with running("vm2") as other:
        in_force(hook, plan("vm2"))
        hook.started("vm2", other.xml)
        assert other.where() == PLANNED
    hook.started(guest.name, guest.xml)
    journal = (hook.counts / "journal.json").read_text()
    assert journal.count('"target"') == 5, "of vm1 alone: vm2's threads have ended"
    assert run_command(["affinity", "rollback", "--host", HOST, "--state", str(hook.state)]) == 0
    assert guest.where() == before


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (lambda file: None, "there is no such plan"),
    "empty": (lambda file: file.write_bytes(b""), "plan.json"),
    "cut off": (lambda file: file.write_text(plan().model_dump_json()[:90]), "plan.json"),
    "not UTF-8": (lambda file: file.write_bytes(b"\xff\xfe{}"), "plan.json"),
    "another host's": (
        lambda file: file.write_text(
            plan().model_copy(update={"host": "elsewhere"}).model_dump_json()
        ),
        "is the plan of elsewhere",
    ),
    "without the guest": (
        lambda file: file.write_text(plan("vm9").model_dump_json()),
        "has no CPUs for vm1",
    ),
    "with too few vCPUs": (
        lambda file: file.write_text(plan(vcpus=1).model_dump_json()),
        "has CPUs for 1 of 2 vCPUs",
    ),
    "a FIFO": (lambda file: os.mkfifo(file), "plan.json"),
    "a directory": (lambda file: file.mkdir(), "plan.json"),
}


@pytest.mark.parametrize("what", UNUSABLE)
def test_a_plan_that_cannot_be_used_is_passed_over_and_the_log_says_why(
    hook: Hook, guest: RunningGuest, what: str
) -> None:
    make, why = UNUSABLE[what]
    make(hook.plan)
    kept(hook, plan())
    hook.started(guest.name, guest.xml)
    assert hook.counted() == {"last-good": 1}
    assert guest.where() == PLANNED
    (line,) = hook.lines()
    assert why in line.partition("; plan: ")[2]


def test_without_any_plan_something_is_taken_and_counted(hook: Hook, guest: RunningGuest) -> None:
    """By the rule if this machine has cores for it, else off the storage interrupts' cores."""
    hook.started(guest.name, guest.xml)
    (line,) = hook.lines()
    (rung,) = hook.counted()
    assert rung in ("rule", "cpuset", "nothing")
    assert all(f"; {above}: " in line for above in SOURCES)
    assert set().union(*guest.where().values()) <= set(CPUS)


HOSTILE = {
    "nothing": "",
    "no XML": "vm1",
    "a bomb": '<!DOCTYPE d [<!ENTITY a "aaaa">]><domain><name>&a;</name></domain>',
    "another document": "<network><name>vm1</name></network>",
    "another guest's": "<domain><name>vm2</name><vcpu>1</vcpu></domain>",
    "no vCPUs": "<domain><name>vm1</name></domain>",
    "vCPUs in words": "<domain><name>vm1</name><vcpu>two</vcpu></domain>",
    "vCPUs without end": "<domain><name>vm1</name><vcpu>99999999999999</vcpu></domain>",
    "iothreads without end": (
        "<domain><name>vm1</name><vcpu>1</vcpu><iothreads>99999999999999</iothreads></domain>"
    ),
    "deep": "<a>" * 50_000,
    "long": "<domain><name>vm1</name>" + " " * (5 << 20),
    "a guest that does not run": (
        "<domain><name>vm1</name><uuid>6f3c1f0e-8a51-5d34-9d3b-00000000dead</uuid>"
        "<vcpu>1</vcpu></domain>"
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_whatever_is_on_its_input_the_hook_ends_well_and_places_nothing(
    hook: Hook, guest: RunningGuest, what: str
) -> None:
    before = guest.where()
    in_file(hook, plan())
    hook.started("vm1", HOSTILE[what])
    assert hook.counted() == {"nothing": 1}
    assert guest.where() == before
    assert len(hook.lines()) == 1


def test_a_name_cannot_write_a_line_of_its_own(hook: Hook) -> None:
    hook.started("vm1\nvm2: 5 of 5 threads by plan\x1b[31m", "")
    (line,) = hook.lines()
    assert r"\n" in line and "\x1b" not in line


def test_a_name_may_look_like_an_option(hook: Hook) -> None:
    in_file(hook, plan("--help"))
    with running("--help") as guest:
        hook.started(guest.name, guest.xml)
        assert guest.where() == PLANNED
    assert hook.counted() == {"plan": 1}


@pytest.mark.parametrize("words", [("prepare", "begin", "-"), ("stopped", "end", "-")])
def test_other_moments_are_none_of_its_business(
    hook: Hook, guest: RunningGuest, words: tuple[str, ...]
) -> None:
    in_file(hook, plan())
    hook.started(guest.name, guest.xml, *words)
    assert hook.counted() == {}


BROKEN = {
    "one that fails": ("exit 7", "nothing"),
    "one that crashes": ("kill -SEGV $$", "nothing"),
    "one that never ends": ("exec sleep 1000", "late"),
    "one that ignores signals": ("trap '' TERM INT HUP; while :; do sleep 1; done", "late"),
    "one that reads nothing": ("exec <&-; exec sleep 1000", "late"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_whatever_the_program_does_libvirt_goes_on(tmp_path: Path, what: str) -> None:
    """The pipes hold less than this input: libvirt would wait for a reader for ever."""
    hook = Hook(tmp_path, seconds=1)
    script, counted = BROKEN[what]
    hook.replace(f"echo $$ >{tmp_path}/pid; {script}")
    hook.started("vm1", "<a>" * 500_000)
    assert hook.counted() == {counted: 1}
    if counted == "late":
        gone = Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/cmdline")
        deadline = time.monotonic() + 30
        while gone.exists() and gone.read_bytes() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not (gone.exists() and gone.read_bytes()), "it was killed"


def test_without_the_program_nothing_fails(hook: Hook) -> None:
    hook.program.unlink()
    hook.started("vm1", "<domain/>")
    assert hook.counted() == {"nothing": 1}


def ladder(top: Path, tree: Path, vcpus: int) -> Ladder:
    xml = (
        "<domain><name>vm1</name><uuid>one</uuid><memory unit='MiB'>64</memory>"
        f"<vcpu>{vcpus}</vcpu></domain>"
    )
    root = Root(tree)
    files = StartFiles(top / "state", top / "plan.json", top / "kept")
    guest = parse_domain(xml, running=True, where="test")
    return Ladder(files, HOST, guest, tuple(processes(TreeFiles(root))), root)


def vcpu_places(chosen: Chosen, vcpus: int) -> set[int]:
    assert chosen.rung is StartRung.RULE
    assert chosen.places
    return {cpu for n in range(vcpus) for cpu in chosen.places.of(f"vm1/vcpu/{n}")}


def test_the_rule_keeps_off_the_vcpus_of_others(tmp_path: Path) -> None:
    """The other guest's vCPU gets the CPUs that the rule chooses where nobody has them."""
    first = ladder(tmp_path, write(tmp_path / "alone", cpus(10)), 2).choose()
    taken = vcpu_places(first, 2)
    other = task(50, 50, "qemu", arguments=["qemu", "-uuid", "two"]) | task(50, 51, "CPU 0/KVM")
    status = "proc/50/task/51/status"
    other[status] = other[status].replace("0-1", ",".join(map(str, sorted(taken))))
    tree = write(tmp_path / "tree", cpus(10) | other)
    second = vcpu_places(ladder(tmp_path, tree, 2).choose(), 2)
    assert len(taken) == len(second) == 2
    assert not taken & second


def test_what_the_rule_cannot_place_keeps_off_the_storage_interrupts(tmp_path: Path) -> None:
    chosen = ladder(tmp_path, write(tmp_path / "tree", cpus(4)), 9).choose()
    assert chosen.rung is StartRung.CPUSET
    assert chosen.places == ThreadPlaces((0, 2, 3))
    assert "9 vCPUs do not fit" in chosen.refused[-1]


def test_where_every_core_has_storage_interrupts_nothing_is_placed(tmp_path: Path) -> None:
    chosen = ladder(tmp_path, write(tmp_path / "tree", cpus(1)), 1).choose()
    assert chosen.rung is StartRung.NOTHING
    assert chosen.places is None
    assert [why.partition(":")[0] for why in chosen.refused] == [
        *("in-force", "plan", "last-good", "rule", "cpuset"),
    ]


def test_the_daemon_shows_every_count(tmp_path: Path) -> None:
    registry = CollectorRegistry()
    registry.register(StartCounts(tmp_path / "starts"))
    none = generate_latest(registry).decode()
    assert all(f'vas_affinity_guest_starts_total{{by="{rung}"}} 0.0' in none for rung in StartRung)
    count(tmp_path / "starts", "plan", "incomplete")
    count(tmp_path / "starts", "plan")
    text = generate_latest(registry).decode()
    assert 'vas_affinity_guest_starts_total{by="plan"} 2.0' in text
    assert "vas_affinity_guest_starts_incomplete_total 1.0" in text
