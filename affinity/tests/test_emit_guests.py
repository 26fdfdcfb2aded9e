"""What is emitted places a real guest, under a libvirtd of the test's own."""

from __future__ import annotations

import os
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest

from vas_affinity.placement import GuestMemory, GuestShape, HostPlacement, Pin, PinTarget
from vas_affinity.plan.emit import domain_elements, virsh_commands
from vas_affinity.plan.emit.script import script
from vas_core.process import run
from vas_tests import libvirt
from vas_tests.libvirt import LibvirtDaemon, threads

pytestmark = [
    pytest.mark.slow,
    pytest.mark.nightly,
    pytest.mark.skipif(bool(libvirt.missing()), reason=f"missing: {', '.join(libvirt.missing())}"),
    pytest.mark.skipif(os.cpu_count() == 1, reason="one CPU: nothing can be placed"),
]
NAME = "vas emitted"
NAMES = ("CPU 0/TCG", "CPU 1/TCG", "IO iothread1", "qemu-system-x86")


def plan(first: int, second: int) -> HostPlacement:
    """vCPU 0 and the emulator on one CPU, vCPU 1 and the iothread on the other."""
    where = [
        (PinTarget.VCPU, "0", first),
        (PinTarget.VCPU, "1", second),
        (PinTarget.EMULATOR, "emulator", first),
        (PinTarget.IOTHREAD, "1", second),
    ]
    return HostPlacement(
        host=os.uname().nodename,
        pins=tuple(
            Pin(target=target, name=name, cpus=(cpu,), reason="test", guest=NAME)
            for target, name, cpu in where
        ),
        memory=(GuestMemory(guest=NAME, nodes=(0,), memory_bytes=32 << 20),),
        shapes=(GuestShape(guest=NAME, vcpus=2, sockets=1, cores=1, threads=2, iothreads=1),),
    )


def affinities(daemon: LibvirtDaemon) -> dict[str, set[int]]:
    """Where the kernel lets the guest's threads run."""
    tids = threads(daemon.virsh("domuuid", NAME).strip())
    return {name: os.sched_getaffinity(tid) for name, tid in tids.items() if name in NAMES}


def expected(first: int, second: int) -> dict[str, set[int]]:
    placed = {"CPU 0/TCG": first, "CPU 1/TCG": second, "IO iothread1": second}
    return {name: {cpu} for name, cpu in (placed | {"qemu-system-x86": first}).items()}


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LibvirtDaemon]:
    with libvirt.running(tmp_path_factory.mktemp("libvirt")) as found:
        yield found


@pytest.fixture
def guest(daemon: LibvirtDaemon) -> Iterator[LibvirtDaemon]:
    """A guest that was defined with the elements of a plan, and started.

    Without KVM no host CPU can be passed through; whether memory can be bound is the kernel's
    matter here.
    """
    uuid = daemon.define("blank")
    domain = Xml.fromstring(daemon.virsh("dumpxml", "--inactive", uuid))
    daemon.virsh("undefine", uuid)
    for element in [Xml.Element("uuid"), *domain_elements(plan(0, 1), NAME)]:
        for old in domain.findall(element.tag):
            domain.remove(old)
        element.attrib.pop("mode", None)
        if element.tag not in ("uuid", "numatune"):
            domain.append(element)
    name = domain.find("name")
    assert name is not None
    name.text = NAME
    daemon.virsh("define", "/dev/stdin", stdin=Xml.tostring(domain, encoding="unicode"))
    daemon.virsh("start", NAME)
    yield daemon
    daemon.end_guests()


def test_a_guest_starts_where_the_xml_says(guest: LibvirtDaemon) -> None:
    assert affinities(guest) == expected(0, 1)


def test_the_commands_move_it(guest: LibvirtDaemon) -> None:
    for command in virsh_commands(plan(1, 0), NAME, live=True):
        if "numatune" not in command:
            run(["virsh", "--connect", guest.uri, *command[1:]])
    assert affinities(guest) == expected(1, 0)


def test_the_script_moves_it_now_and_in_its_definition(
    guest: LibvirtDaemon, tmp_path: Path
) -> None:
    file = tmp_path / "place.bash"
    file.write_text(script(plan(1, 0), [NAME]))
    known = {**os.environ, "LIBVIRT_DEFAULT_URI": guest.uri}
    done = subprocess.run(["bash", str(file)], env=known, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert affinities(guest) == expected(1, 0)
    defined = Xml.fromstring(guest.virsh("dumpxml", "--inactive", NAME))
    assert [pin.get("cpuset") for pin in defined.iter("vcpupin")] == ["1", "0"]
    memory = defined.find("numatune/memory")
    assert memory is not None and memory.get("nodeset") == "0"


def test_the_script_says_which_lines_did_nothing(guest: LibvirtDaemon, tmp_path: Path) -> None:
    file = tmp_path / "place.bash"
    missing = [pin.model_copy(update={"guest": "none"}) for pin in plan(1, 0).pins[:1]]
    shape = plan(1, 0).shapes[0].model_copy(update={"guest": "none"})
    both = plan(1, 0).model_copy(
        update={"pins": (*missing, *plan(1, 0).pins), "shapes": (shape, *plan(1, 0).shapes)}
    )
    file.write_text(script(both, ["none", NAME]))
    known = {**os.environ, "LIBVIRT_DEFAULT_URI": guest.uri}
    done = subprocess.run(["bash", str(file)], env=known, capture_output=True, text=True)
    assert done.returncode == 1
    assert f"not defined so: {shlex.join(['vcpupin', 'none', '0', '1'])}" in done.stderr
    assert affinities(guest) == expected(1, 0)
