"""A guest's domain by a real libvirt: defined, compared, changed, started, forgotten."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from vas_affinity.placement import GuestShape, HostPlacement, Pin, PinTarget
from vas_affinity.plan.emit.libvirt import domain_xml
from vas_cluster import load_cluster
from vas_cluster.model import Disk
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.polling import poll
from vas_core.process import run
from vas_core.xmltree import parse_xml
from vas_guest.desired import DesiredGuest
from vas_guest.domain import domain, to_text
from vas_guest.host import GuestHost
from vas_guest.network import has, network, network_uuid
from vas_guest.settings import Accelerator, GuestSettings
from vas_tests import libvirt
from vas_tests.kernel import halting_kernel

pytestmark = [pytest.mark.slow, pytest.mark.nightly]
EXAMPLE = Path(__file__).parents[1] / "cluster/examples/laptop-lab.yaml"
WORD = b"halted"
GUEST = "vm1"
FUNCTIONS = ("0000:03:10.0", "0000:03:10.2")


@pytest.fixture(scope="module")
def daemon(tmp_path_factory: pytest.TempPathFactory) -> Iterator[libvirt.LibvirtDaemon]:
    lacking = libvirt.missing()
    assert not lacking, lacking
    with libvirt.running(tmp_path_factory.mktemp("libvirt")) as found:
        yield found


@pytest.fixture
def site(tmp_path: Path, daemon: libvirt.LibvirtDaemon) -> Iterator[Path]:
    """A map with a guest that is emulated and has a disk, its settings and its placement."""
    value = yaml.safe_load(EXAMPLE.read_text())
    guest = value["hosts"][0]["guests"][0]
    guest["memory"] = "64MiB"
    guest["disks"] = [{"path": str(tmp_path / "vm1.qcow2"), "size": "1GiB"}]
    (tmp_path / "cluster.yaml").write_text(yaml.safe_dump(value))
    settings = {"accelerator": "qemu", "virtual_function": False, "seeds": str(tmp_path / "seed")}
    (tmp_path / "kernel").write_bytes(halting_kernel(WORD))
    settings |= {"kernel": str(tmp_path / "kernel"), "consoles": str(tmp_path)}
    (tmp_path / "guest.yaml").write_text(yaml.safe_dump(settings))
    (tmp_path / "placement.xml").write_text(domain_xml(_placement(), GUEST))
    run(["qemu-img", "create", "-q", "-f", "qcow2", tmp_path / "vm1.qcow2", "1G"])
    yield tmp_path
    daemon.end_guests()


def _placement() -> HostPlacement:
    pins = [
        Pin(target=PinTarget.VCPU, name=str(number), cpus=(number,), reason="", guest=GUEST)
        for number in (0, 1)
    ]
    pins.append(Pin(target=PinTarget.IOTHREAD, name="1", cpus=(1,), reason="", guest=GUEST))
    shape = GuestShape(guest=GUEST, vcpus=2, sockets=1, cores=2, threads=1, iothreads=1)
    return HostPlacement(host="oss1", pins=tuple(pins), shapes=(shape,))


def vas(daemon: libvirt.LibvirtDaemon, site: Path, command: str, *more: str) -> int:
    files = ("--cluster", str(site / "cluster.yaml"), "--settings", str(site / "guest.yaml"))
    placement = ("--placement", str(site / "placement.xml"))
    return run_command(
        ["guest", command, GUEST, *files, *placement, "--connect", daemon.uri, *more]
    )


def unlimited(site: Path) -> None:
    """Of a guest that is started: here nobody may raise the limit of locked memory."""
    settings = yaml.safe_load((site / "guest.yaml").read_text()) | {"memory_limit": False}
    (site / "guest.yaml").write_text(yaml.safe_dump(settings))


def differing(
    daemon: libvirt.LibvirtDaemon, site: Path, capsys: pytest.CaptureFixture[str]
) -> dict[str, object]:
    capsys.readouterr()
    status = vas(daemon, site, "verify", "--json")
    found = json.loads(capsys.readouterr().out)["differences"]
    assert status == (3 if found else 0)
    return {one["where"]: one["found"] for one in found}


def test_defined_once_it_is_as_wished_and_a_second_time_changes_nothing(
    daemon: libvirt.LibvirtDaemon, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "/domain[vm1]" in differing(daemon, site, capsys)
    assert vas(daemon, site, "apply", "--dry-run") == 0
    assert daemon.virsh("list", "--all", "--name").split() == []
    assert vas(daemon, site, "apply") == 0
    assert differing(daemon, site, capsys) == {}
    assert vas(daemon, site, "apply", "--json") == 0
    assert json.loads(capsys.readouterr().out)["differences"] == []


def test_what_somebody_changed_is_found_and_put_right(
    daemon: libvirt.LibvirtDaemon, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert vas(daemon, site, "apply") == 0
    daemon.virsh("vcpupin", GUEST, "1", "0", "--config")
    daemon.virsh("attach-disk", GUEST, str(site / "other"), "vdb", "--config")
    found = differing(daemon, site, capsys)
    assert found["/domain/cputune/vcpupin[1]@cpuset"] == "0"
    assert "/domain/devices/disk[vdb]" in found
    assert vas(daemon, site, "apply") == 0
    assert differing(daemon, site, capsys) == {}


def test_a_wrong_mac_is_found_and_put_right(
    daemon: libvirt.LibvirtDaemon, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert vas(daemon, site, "apply") == 0
    wrong, right = "52:54:00:77:0f:ff", load_cluster(site / "cluster.yaml").guest(GUEST).macs.virtio
    defined = daemon.virsh("dumpxml", GUEST, "--inactive")
    daemon.virsh("define", "/dev/stdin", stdin=defined.replace(right, wrong))
    found = differing(daemon, site, capsys)
    interface = "/domain/devices/interface[{}]"
    assert interface.format(wrong) in found and interface.format(right) in found
    assert vas(daemon, site, "apply") == 0
    assert differing(daemon, site, capsys) == {}
    assert wrong not in daemon.virsh("dumpxml", GUEST, "--inactive")


def test_a_guest_that_runs_goes_on_and_is_not_forgotten(
    daemon: libvirt.LibvirtDaemon, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (site / "cluster.yaml").read_text()
    unlimited(site)
    assert vas(daemon, site, "apply") == 0
    daemon.virsh("start", GUEST)
    pid = daemon.virsh("domid", GUEST)
    (site / "cluster.yaml").write_text(text.replace("64MiB", "96MiB"))
    capsys.readouterr()
    assert vas(daemon, site, "apply", "--dry-run", "--json") == 0
    assert json.loads(capsys.readouterr().out)["restart"] is True
    assert vas(daemon, site, "apply") == 0
    assert "count from its next start" in capsys.readouterr().err
    assert daemon.virsh("domid", GUEST) == pid
    assert vas(daemon, site, "remove") == 2
    assert "shut it down first" in capsys.readouterr().err
    daemon.virsh("destroy", GUEST)
    assert vas(daemon, site, "remove") == 0
    assert daemon.virsh("list", "--all", "--name").split() == []
    assert (site / "vm1.qcow2").exists() and not (site / "seed/vm1.iso").exists()
    assert not list(site.glob("vm1-console.log*"))


def test_a_guest_that_does_not_boot_is_shown_by_its_console(
    daemon: libvirt.LibvirtDaemon,
    site: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unlimited(site)
    console, wait = site / "vm1-console.log", GuestHost.await_agent

    def wait_when_it_spoke(host: GuestHost, desired: DesiredGuest, seconds: float) -> None:
        poll(lambda: console.exists() and WORD in console.read_bytes(), bool, 60.0, "a word")
        wait(host, desired, seconds)

    monkeypatch.setattr(GuestHost, "await_agent", wait_when_it_spoke)
    assert vas(daemon, site, "apply", "--start", "--wait", "2") == 1
    said = capsys.readouterr().err
    assert "waited 2 s for the agent of vm1" in said
    assert f"{console} ends with:" in said and WORD.decode() in said


def test_another_guest_of_that_name_is_left_alone(
    daemon: libvirt.LibvirtDaemon, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    uuid = daemon.define(GUEST)
    assert vas(daemon, site, "apply") == 2
    assert "VAS did not define it" in capsys.readouterr().err
    assert daemon.virsh("domuuid", GUEST).strip() == uuid


def test_a_device_with_data_is_refused_until_it_is_the_guests(
    daemon: libvirt.LibvirtDaemon, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with loop_device(site / "device") as device:
        text = (site / "cluster.yaml").read_text()
        (site / "cluster.yaml").write_text(text.replace(str(site / "vm1.qcow2"), device))
        run(["mke2fs", "-q", "-F", "-L", "lustre-OST0000", device])
        for options in ("--dry-run",), ():
            assert vas(daemon, site, "apply", *options) == 2
            assert f"{device}: has somebody's data: ext2" in capsys.readouterr().err
        assert daemon.virsh("list", "--all", "--name").split() == []
        run(["wipefs", "--quiet", "--all", device])
        assert vas(daemon, site, "apply") == 0
        run(["mke2fs", "-q", "-F", "-L", "data", device])  # as the guest does
        assert vas(daemon, site, "apply") == 0


@contextmanager
def loop_device(file: Path) -> Iterator[str]:
    file.touch()
    os.truncate(file, 16 << 20)
    device = run(["losetup", "--find", "--show", file]).stdout.strip()
    try:
        yield device
    finally:
        run(["losetup", "--detach", device])


def test_a_guest_that_is_restarted_has_its_new_definition(
    daemon: libvirt.LibvirtDaemon, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = (site / "cluster.yaml").read_text()
    unlimited(site)
    assert vas(daemon, site, "restart") == 1  # it is not defined
    assert vas(daemon, site, "apply", "--start") == 0
    (site / "cluster.yaml").write_text(text.replace("64MiB", "96MiB"))
    assert vas(daemon, site, "apply") == 0
    capsys.readouterr()
    # Its kernel has halted, and hears nothing: it goes on as it was.
    assert vas(daemon, site, "restart", "--timeout", "2") == 1
    assert "waited 2 s for vm1 to shut down" in capsys.readouterr().err
    assert " 65536 KiB" in daemon.virsh("dominfo", GUEST)
    daemon.virsh("destroy", GUEST)
    assert vas(daemon, site, "restart") == 0
    assert " 98304 KiB" in daemon.virsh("dominfo", GUEST)


def test_the_pool_of_virtual_functions_comes_and_goes_with_its_guests(
    daemon: libvirt.LibvirtDaemon, site: Path
) -> None:
    desired, host = pooled(site), GuestHost(daemon.uri)
    make_functions(daemon)
    former = "<forward mode='hostdev' managed='yes'><pf dev='pf0'/></forward>"
    uuid = network_uuid(desired.cluster, desired.host)
    text = f"<network><name>vas-pf0</name><uuid>{uuid}</uuid>{former}</network>"
    daemon.virsh("net-define", "/dev/stdin", stdin=text)
    with pytest.raises(BadInput, match="run `vas guest vfs`"):
        host.apply(replace(desired, functions=()))
    assert "/network[vas-pf0]/forward" in [one.where for one in host.apply(desired)]
    for options in ("--inactive",), ():
        found = daemon.virsh("net-dumpxml", "vas-pf0", *options)
        assert has(parse_xml(found, where="vas-pf0")) == " ".join(FUNCTIONS)
    assert host.differences(desired) == []
    fewer = replace(desired, functions=FUNCTIONS[:1])
    host.apply(fewer)
    assert has(parse_xml(daemon.virsh("net-dumpxml", "vas-pf0"), where="")) == FUNCTIONS[0]
    assert host.remove(desired)
    assert daemon.virsh("net-list", "--all", "--name").split() == []


def make_functions(daemon: libvirt.LibvirtDaemon) -> None:
    """What libvirt knows virtual functions by, where it sees it: a link to the PF."""
    devices = "/sys/bus/pci/devices"
    names = " ".join(f"{devices}/{address}/physfn" for address in FUNCTIONS)
    script = f"mount -t tmpfs tmpfs {devices} && mkdir -p {names}"
    run(["nsenter", f"--mount=/proc/{daemon.pid}/ns/mnt", "sh", "-euc", script])


def pooled(site: Path) -> DesiredGuest:
    """The guest with a virtual function."""
    cluster = load_cluster(site / "cluster.yaml")
    settings = GuestSettings(
        seeds=str(site / "seed"), consoles=str(site), accelerator=Accelerator.TCG
    )
    return DesiredGuest(cluster, "", cluster.guest(GUEST), settings, functions=FUNCTIONS)


def test_libvirts_schema_takes_every_domain_and_pool_of_the_examples(tmp_path: Path) -> None:
    file = tmp_path / "document.xml"
    for example in EXAMPLE.parent.glob("*.yaml"):
        cluster = load_cluster(example)
        file.write_text(to_text(network(cluster, cluster.hosts[0], FUNCTIONS)))
        run(["virt-xml-validate", file, "network"])
        for guest in cluster.guests()[:2]:
            disks = guest.disks or [Disk(path="/dev/vg/guest", size="1GiB")]
            described = guest.model_copy(update={"disks": disks})
            file.write_text(to_text(domain(cluster, described, GuestSettings(vlan=42, mtu=9000))))
            run(["virt-xml-validate", file, "domain"])
