"""A real guest that a real libvirt starts with the hook: its threads are placed when it runs."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from started_guests import CPUS, Hook, plan

from vas_tests import libvirt
from vas_tests.libvirt import LibvirtDaemon, threads

pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.skipif(bool(libvirt.missing()), reason=f"missing: {', '.join(libvirt.missing())}"),
    pytest.mark.skipif(len(CPUS) < 2, reason="one CPU: nothing can be moved"),
]
_NAMES = {"CPU 0/TCG": "0", "CPU 1/TCG": "1", "IO iothread1": "io", "qemu-system-x86": "main"}


@pytest.fixture(scope="module")
def hook(tmp_path_factory: pytest.TempPathFactory) -> Hook:
    return Hook(tmp_path_factory.mktemp("hook"), seconds=5)


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory, hook: Hook) -> Iterator[LibvirtDaemon]:
    """libvirt looks for hooks once, when it starts."""
    directory = tmp_path_factory.mktemp("libvirt")
    hook.install(directory / "etc/libvirt/hooks/qemu.d/vas-affinity")
    with libvirt.running(directory) as found:
        yield found


def where(uuid: str) -> dict[str, set[int]]:
    found = {_NAMES[name]: tid for name, tid in threads(uuid).items() if name in _NAMES}
    return {name: os.sched_getaffinity(tid) for name, tid in found.items()}


def test_libvirt_starts_a_guest_where_the_plan_has_it(daemon: LibvirtDaemon, hook: Hook) -> None:
    """Its definition pins the iothread alone; `start` returns when the hook has ended."""
    hook.plan.write_text(plan().model_dump_json())
    uuid = daemon.define("vm1")
    daemon.virsh("start", "vm1")
    last, first = {CPUS[-1]}, {CPUS[0]}
    assert where(uuid) == {"0": last, "1": last, "io": last, "main": first}
    assert hook.counted() == {"plan": 1}


FAILING = {
    "it fails": ("exit 1", "nothing"),
    "it asks libvirt, which waits for it": ("exec virsh vcpupin vm2 0 0 --live", "late"),
}


@pytest.mark.parametrize("what", FAILING)
def test_libvirt_starts_a_guest_whatever_becomes_of_the_hook(
    daemon: LibvirtDaemon, hook: Hook, what: str
) -> None:
    script, counted = FAILING[what]
    program, before = hook.program.read_text(), hook.counted().get(counted, 0)
    hook.replace(script)
    uuid = daemon.define("vm2")
    daemon.virsh("start", "vm2")
    hook.program.write_text(program)
    assert where(uuid)["0"] == set(CPUS)
    assert hook.counted()[counted] == before + 1
    daemon.end_guests()
