"""Which disk or NIC a thread serves, and what /dev/mapper and LVM call a disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_trees import cpus, task, write

from vas_affinity.guest_plan import GuestPlanSettings
from vas_affinity.guest_plan.storage import storage_devices
from vas_affinity.machine.block_names import short_name
from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_affinity.machine.reading.disks import BlockDevices
from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.reading.guests import parse_domain
from vas_affinity.machine.reading.serving import Servers
from vas_affinity.machine.snapshot import Snapshot, Thread, ThreadRole
from vas_core.root import Root

PCI = "sys/bus/pci/devices"
DISK, NVME, NIC = "0000:00:1f.2", "0000:01:00.0", "0000:02:00.0"
BLOCK = {
    "sda": f"{DISK}/ata1/block/sda",
    "sda1": f"{DISK}/ata1/block/sda/sda1",
    "nvme0n1": f"{NVME}/nvme/nvme0/nvme0n1",
}


@pytest.fixture
def host(tmp_path: Path) -> Path:
    files = cpus(2)
    for address, code in ((DISK, "0x010601"), (NVME, "0x010802"), (NIC, "0x020000")):
        files |= {f"{PCI}/{address}/class": code, f"{PCI}/{address}/numa_node": "0"}
    mapped = {
        "dm-0": ("vg--a-ost0", "LVM-x", ["sda1"]),
        "dm-1": ("secret", "CRYPT-LUKS2-x", ["dm-0"]),
        "dm-2": ("wide", "LVM-y", ["sda1", "nvme0n1"]),
    }
    for name, (called, uuid, slaves) in mapped.items():
        at = f"sys/devices/virtual/block/{name}"
        files |= {f"{at}/dm/name": called, f"{at}/dm/uuid": uuid}
        files |= {f"{at}/slaves/{slave}/x": "" for slave in slaves}
    links = {f"sys/class/block/{n}": f"../../devices/virtual/block/{n}" for n in mapped}
    for name, path in BLOCK.items():
        files[f"sys/devices/pci0000:00/{path}/size"] = "8"
        links[f"sys/class/block/{name}"] = f"../../devices/pci0000:00/{path}"
    links |= {"sys/dev/block/8:1": "../../devices/pci0000:00/" + BLOCK["sda1"]}
    links |= {"sys/dev/block/254:2": "../../devices/virtual/block/dm-2"}
    net = f"sys/devices/pci0000:00/{NIC}/net/eth0"
    files |= {f"{net}/ifindex": "2", "sys/devices/virtual/net/br0/brif/eth0/x": ""}
    files |= {"sys/devices/virtual/net/br0/brif/vnet0/x": "", "sys/devices/virtual/net/vnet0/x": ""}
    links |= {"sys/class/net/eth0": f"../../devices/pci0000:00/{NIC}/net/eth0"}
    links |= {n: f"../../devices/virtual/{n[10:]}" for n in ("sys/class/net/br0",)}
    links |= {"sys/class/net/vnet0": "../../devices/virtual/net/vnet0"}
    links |= {"sys/devices/virtual/net/vnet0/master": "../br0"}
    return write(tmp_path, files, links)


def seen(host: Path, *patterns: str) -> Snapshot:
    return read_snapshot(Root(host), name="host", asked=SnapshotRequest(processes=patterns))


@pytest.mark.parametrize(
    ("name", "disks"),
    [
        ("sda", {"sda"}),
        ("/dev/sda1", {"sda"}),
        ("8:1", {"sda"}),
        ("/dev/mapper/vg--a-ost0", {"sda"}),
        ("/dev/vg-a/ost0", {"sda"}),
        ("/dev/mapper/secret", {"sda"}),
        ("dm-2", {"sda", "nvme0n1"}),
        ("254:2", {"sda", "nvme0n1"}),
        ("/dev/nowhere", set()),
        ("9:9", set()),
    ],
)
def test_the_disks_below_a_block_device(host: Path, name: str, disks: set[str]) -> None:
    assert BlockDevices(TreeFiles(Root(host))).disks(name) == disks


def test_a_map_may_call_a_disk_by_its_name_of_lvm(host: Path) -> None:
    snapshot = seen(host)
    for path in ("/dev/mapper/secret", "/dev/vg-a/ost0", "/dev/mapper/vg--a-ost0", "/dev/sda"):
        settings = GuestPlanSettings(storage_devices=(short_name(path),))
        found, notes = storage_devices(snapshot, settings)
        assert ([device.name for device in found], notes) == (["sda"], []), path
    wide = GuestPlanSettings(storage_devices=("vg/wide",))
    assert storage_devices(snapshot, wide)[1], "there is no such volume"


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("jbd2/dm-0-8", "sda"),
        ("jbd2/sda1-8", "sda"),
        ("kdmflush/254:2", None),
        ("xfsaild/nvme0n1", "nvme0"),
        ("napi/eth0-12", "eth0"),
        ("ll_ost_io00_001", None),
    ],
)
def test_a_kernel_thread_says_its_device(host: Path, name: str, device: str | None) -> None:
    write(host, task(60, 60, name))
    (thread,) = seen(host, "60").threads
    assert thread.device == device


def opened(pid: int, paths: dict[int, tuple[str, str]]) -> tuple[dict[str, str], dict[str, str]]:
    """The open files of a process: number -> path and what fdinfo says."""
    info = {f"proc/{pid}/fdinfo/{number}": text for number, (_, text) in paths.items()}
    return info, {f"proc/{pid}/fd/{number}": path for number, (path, _) in paths.items()}


def test_a_process_serves_the_disk_that_its_files_are_on(host: Path) -> None:
    files, links = opened(50, {3: ("/data/blk_1", "pos: 0\nmnt_id:\t31\n"), 4: ("/dev/null", "")})
    files |= {"proc/50/mountinfo": "31 1 8:1 / /data rw - ext4 /dev/sda1 rw\n"}
    files |= task(50, 50, "datanode") | task(50, 51, "idle")
    files |= {"proc/50/task/50/io": "read_bytes: 9000000\nwrite_bytes: 0\n"}
    files |= {"proc/50/task/51/io": "read_bytes: 10\nwrite_bytes: 0\n"}
    write(host, files, links)
    assert [thread.device for thread in seen(host, "50").threads] == ["sda", None]


def test_a_process_of_two_disks_serves_none_in_particular(host: Path) -> None:
    files, links = opened(50, {3: ("/dev/sda", ""), 4: ("/dev/nvme0n1", "")})
    files |= task(50, 50, "datanode")
    files |= {"proc/50/task/50/io": "read_bytes: 9000000\nwrite_bytes: 0\n"}
    write(host, files, links)
    assert seen(host, "50").threads[0].device is None


def test_a_guests_threads_serve_its_image_and_its_tap(host: Path) -> None:
    files, links = opened(70, {5: ("/dev/vg-a/ost0", ""), 6: ("/dev/net/tun", "iff:\tvnet0\n")})
    write(host, files | task(70, 70, "qemu"), links)
    threads = [
        Thread(tid=70, pid=70, key="vm1/iothread/1", name="IO iothread1", role=ThreadRole.IOTHREAD),
        Thread(tid=71, pid=71, key="vm1/vhost/0", name="vhost-70", role=ThreadRole.VHOST),
        Thread(tid=72, pid=70, key="vm1/vcpu/0", name="CPU 0/KVM", role=ThreadRole.VCPU),
    ]
    snapshot = seen(host)
    servers = Servers(TreeFiles(Root(host)), snapshot.devices, snapshot.interrupts)
    assert [t.device for t in servers.with_devices(threads)] == ["sda", "eth0", None]


def test_a_guests_xml_says_its_devices() -> None:
    address = "<address domain='0x0000' bus='0x02' slot='0x10' function='0x1'/>"
    xml = f"""<domain><name>vm1</name><vcpu>2</vcpu><devices>
      <interface type='hostdev'><source>{address}</source></interface>
      <interface type='bridge'><target dev='vnet0'/></interface>
      <disk><source dev='/dev/vg/vm1'/></disk><disk><source file='/var/vm1.qcow2'/></disk>
    </devices></domain>"""
    guest = parse_domain(xml, running=True, where="vm1")
    assert guest.devices == ("0000:02:10.1", "vnet0", "vg/vm1", "/var/vm1.qcow2")
