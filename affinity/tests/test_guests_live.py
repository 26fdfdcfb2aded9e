"""A real guest, under a libvirtd of the tests' own, as the snapshot sees it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from vas_affinity.machine.snapshot import Snapshot, ThreadRole
from vas_core.cli import run_command
from vas_tests import libvirt
from vas_tests.libvirt import LibvirtDaemon, threads

pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.skipif(bool(libvirt.missing()), reason=f"missing: {', '.join(libvirt.missing())}"),
]


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibvirtDaemon]:
    with libvirt.running(tmp_path_factory.mktemp("libvirt")) as found:
        yield found


def test_a_guest_that_runs_and_one_that_does_not(
    daemon: LibvirtDaemon, capsys: pytest.CaptureFixture[str]
) -> None:
    uuid, _ = daemon.define("vm1"), daemon.define("vm2")
    daemon.virsh("start", "vm1")
    assert run_command(["affinity", "show", "--connect", daemon.uri, "--json"]) == 0
    found = Snapshot.model_validate(json.loads(capsys.readouterr().out))
    one, two = found.guests
    assert (one.name, one.uuid, one.running, one.vcpus) == ("vm1", uuid, True, 2)
    assert (one.memory_bytes, one.iothreads, one.pins) == (32 << 20, (1,), {"vm1/iothread/1": "1"})
    assert (two.name, two.running) == ("vm2", False)
    tids = {thread.key: thread.tid for thread in found.threads}
    seen = threads(uuid)
    assert tids["vm1/vcpu/0"] == seen["CPU 0/TCG"]
    assert tids["vm1/vcpu/1"] == seen["CPU 1/TCG"]
    assert tids["vm1/iothread/1"] == seen["IO iothread1"]
    assert all(thread.guest == "vm1" and thread.cpu is not None for thread in found.threads)
    (iothread,) = [thread for thread in found.threads if thread.role is ThreadRole.IOTHREAD]
    assert iothread.allowed == (1,)


def test_no_libvirt_there_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    nowhere = "qemu+unix:///system?socket=/nonexistent"
    assert run_command(["affinity", "show", "--connect", nowhere, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    (why,) = [unread["why"] for unread in data["unread"] if unread["what"] == "guests"]
    assert "failed to connect" in why
