"""Pins of real guests, under a libvirtd of the tests' own: QEMU's threads run where they say."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_affinity.apply.host_settings import HostSettings
from vas_affinity.apply.local_host import LocalHost
from vas_affinity.apply.outcome import ApplyOutcome, SettingResult
from vas_affinity.apply.thread import started
from vas_affinity.machine.reading.virsh import Virsh
from vas_affinity.placement import HostPlacement, Pin, PinTarget
from vas_core.cli import run_command
from vas_core.root import Root
from vas_tests import libvirt
from vas_tests.libvirt import LibvirtDaemon, threads

pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.skipif(bool(libvirt.missing()), reason=f"missing: {', '.join(libvirt.missing())}"),
    pytest.mark.skipif(os.cpu_count() == 1, reason="one CPU: nothing can be moved"),
]
NAME = f"vm:{os.getpid()}"  # a colon is what parts the journal's keys


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibvirtDaemon]:
    with libvirt.running(tmp_path_factory.mktemp("libvirt")) as found:
        yield found


@pytest.fixture
def uuid(daemon: LibvirtDaemon) -> Iterator[str]:
    """A guest that runs."""
    found = daemon.define(NAME)
    daemon.virsh("start", NAME)
    yield found
    daemon.end_guests()


@pytest.fixture
def host(daemon: LibvirtDaemon, tmp_path: Path) -> LocalHost:
    return LocalHost(tmp_path, HostSettings(virsh=Virsh(daemon.uri)))


def pin(target: PinTarget, name: str, cpu: int, **rest: object) -> Pin:
    words = {"target": target, "name": name, "cpus": (cpu,), "reason": "test", "guest": NAME}
    return Pin.model_validate(words | rest)


def plan(*pins: Pin) -> HostPlacement:
    return HostPlacement(host="here", pins=pins)


ALL = plan(
    pin(PinTarget.VCPU, "0", 1),
    pin(PinTarget.VCPU, "1", 0),
    pin(PinTarget.EMULATOR, "emulator", 1),
    pin(PinTarget.IOTHREAD, "1", 0),
)


def verdicts(outcomes: list[SettingResult]) -> set[ApplyOutcome]:
    return {outcome.verdict for outcome in outcomes}


def where(uuid: str) -> dict[str, set[int]]:
    """Where the kernel lets a guest's threads run."""
    names = {"CPU 0/TCG": "0", "CPU 1/TCG": "1", "IO iothread1": "io", "qemu-system-x86": "main"}
    tids = {names.get(name, ""): tid for name, tid in threads(uuid).items()}
    return {name: os.sched_getaffinity(tid) for name, tid in tids.items() if name}


def test_all_pins_are_made_kept_and_given_back(
    daemon: LibvirtDaemon, uuid: str, host: LocalHost
) -> None:
    before, defined = where(uuid), daemon.virsh("dumpxml", "--inactive", uuid)
    assert verdicts(host.plan(ALL)) == {ApplyOutcome.DIFFERENT}
    assert verdicts(host.apply(ALL)) == {ApplyOutcome.CHANGED}
    assert where(uuid) == {"0": {1}, "1": {0}, "io": {0}, "main": {1}}
    assert verdicts(host.apply(ALL)) == {ApplyOutcome.AS_DESIRED}
    assert verdicts(host.verify(ALL)) == {ApplyOutcome.AS_DESIRED}
    assert verdicts(host.rollback()) == {ApplyOutcome.RESTORED}
    assert where(uuid) == before
    assert daemon.virsh("dumpxml", "--inactive", uuid) == defined
    assert host.rollback() == []


def test_the_definition_starts_a_guest_where_the_plan_says(
    daemon: LibvirtDaemon, uuid: str, host: LocalHost
) -> None:
    host.apply(ALL)
    daemon.virsh("destroy", uuid)
    daemon.virsh("start", uuid)
    assert where(uuid) == {"0": {1}, "1": {0}, "io": {0}, "main": {1}}
    assert verdicts(host.rollback()) == {ApplyOutcome.RESTORED}
    assert where(uuid)["0"] == where(uuid)["1"] >= {0, 1}


def test_a_guest_that_does_not_run_is_pinned_in_its_definition(
    daemon: LibvirtDaemon, uuid: str, host: LocalHost
) -> None:
    daemon.virsh("destroy", uuid)
    by_side = {outcome.what.split()[-1]: outcome for outcome in host.apply(ALL)}
    assert by_side["now"].verdict is ApplyOutcome.SKIPPED
    assert by_side["now"].why == "the guest does not run"
    assert by_side["defined"].verdict is ApplyOutcome.CHANGED


def test_a_guest_without_a_definition_is_pinned_as_it_runs(
    daemon: LibvirtDaemon, uuid: str, host: LocalHost
) -> None:
    daemon.virsh("undefine", uuid)
    by_side = {outcome.what.split()[-1]: outcome for outcome in host.apply(ALL)}
    assert by_side["now"].verdict is ApplyOutcome.CHANGED
    assert by_side["defined"].why == "the guest has no definition: it ends for good"


def test_a_guest_that_started_anew_since_the_plan_is_skipped(
    daemon: LibvirtDaemon, uuid: str, host: LocalHost
) -> None:
    tid = threads(uuid)["CPU 0/TCG"]
    seen = plan(pin(PinTarget.VCPU, "0", 1, tid=tid, start=started(Root(), tid)))
    assert ApplyOutcome.SKIPPED not in verdicts(host.plan(seen))
    daemon.virsh("destroy", uuid)
    daemon.virsh("start", uuid)
    (outcome,) = host.apply(seen)
    assert outcome.verdict is ApplyOutcome.SKIPPED
    assert "restarted" in outcome.why
    assert where(uuid)["0"] >= {0, 1}


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (pin(PinTarget.VCPU, "7", 0), "the guest has 2 vCPUs"),
        (pin(PinTarget.IOTHREAD, "9", 0), "no such iothread"),
        (pin(PinTarget.VCPU, "0", 0, guest="another"), "no such guest"),
    ],
)
def test_what_the_guest_has_not_is_skipped_and_keeps_no_other_back(
    wrong: Pin, why: str, uuid: str, host: LocalHost
) -> None:
    outcomes = host.apply(plan(wrong, pin(PinTarget.VCPU, "0", 1)))
    assert {
        why in outcome.why for outcome in outcomes if outcome.verdict is ApplyOutcome.SKIPPED
    } == {True}
    assert where(uuid)["0"] == {1}


def test_what_someone_else_moved_is_found_and_put_right(
    daemon: LibvirtDaemon, uuid: str, host: LocalHost
) -> None:
    host.apply(ALL)
    daemon.virsh("vcpupin", uuid, "0", "0", "--live")
    (moved,) = [o for o in host.verify(ALL) if o.verdict is ApplyOutcome.DIFFERENT]
    assert (moved.what, moved.now) == (f"vcpu 0 of {NAME} now", "0")
    host.apply(ALL)
    assert where(uuid)["0"] == {1}


def test_the_kernel_is_believed_before_libvirt(uuid: str, host: LocalHost) -> None:
    tid = threads(uuid)["CPU 0/TCG"]
    anywhere = tuple(sorted(where(uuid)["0"]))
    seen = plan(pin(PinTarget.VCPU, "0", 0, cpus=anywhere, tid=tid, start=started(Root(), tid)))
    os.sched_setaffinity(tid, {0})
    live = host.verify(seen)[0]
    assert (live.verdict, live.now) == (ApplyOutcome.DIFFERENT, "0")
    host.apply(seen)
    assert where(uuid)["0"] == set(anywhere)


def test_a_later_plan_gives_back_what_it_does_not_pin(uuid: str, host: LocalHost) -> None:
    before = where(uuid)
    host.apply(ALL)
    host.apply(plan(pin(PinTarget.VCPU, "1", 0)))
    assert where(uuid) == {**before, "1": {0}, "io": {1}}
    host.rollback()
    assert where(uuid) == before


def test_the_commands(
    daemon: LibvirtDaemon,
    uuid: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "plan.json"
    file.write_text(ALL.model_dump_json())
    words = ["--host", "here", "--state", str(tmp_path / "state"), "--connect", daemon.uri]
    assert run_command(["affinity", "verify", str(file), *words]) == 3
    assert run_command(["affinity", "apply", str(file), *words, "--dry-run"]) == 0
    assert run_command(["affinity", "apply", str(file), *words]) == 0
    assert run_command(["affinity", "verify", str(file), *words]) == 0
    capsys.readouterr()
    assert run_command(["affinity", "rollback", *words, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["outcomes"]
    assert {row["verdict"] for row in rows} == {"restored"}
    assert len(rows) == 8


def test_no_libvirt_fails_its_pins_alone(tmp_path: Path) -> None:
    host = LocalHost(
        tmp_path, HostSettings(virsh=Virsh(f"qemu+unix:///system?socket={tmp_path}/none"))
    )
    thread = pin(PinTarget.THREAD, "me", 0, guest=None, tid=os.getpid(), start=_my_start())
    outcomes = host.apply(plan(pin(PinTarget.VCPU, "0", 0), thread))
    assert [outcome.verdict for outcome in outcomes] == [ApplyOutcome.FAILED, ApplyOutcome.CHANGED]
    assert "virsh list: failed to connect" in outcomes[0].why
    host.rollback()


def _my_start() -> int | None:
    return started(Root(), os.getpid())
