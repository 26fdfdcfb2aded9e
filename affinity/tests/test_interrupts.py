"""Interrupts: whose, which queue, movable or not, how often."""

from __future__ import annotations

from pathlib import Path

import pytest
from host_trees import cpus, write
from hypothesis import given
from hypothesis import strategies as st

from vas_affinity.machine.reading import SnapshotRequest, read_snapshot
from vas_affinity.machine.reading.interrupts import InterruptLine, parse_interrupts, queue_of, rates
from vas_affinity.machine.snapshot import DeviceKind, Snapshot
from vas_core.root import Root

TABLE = """\
            CPU0       CPU1
   8:          1          0  IO-APIC    8-edge      rtc0
  24:          0         {nvme}  PCI-MSIX-0000:01:00.0   0-edge      nvme0q0
  25:         40          2  PCI-MSIX-0000:01:00.0   1-edge      nvme0q1
  26:          7          0  PCI-MSI 524288-edge      ens1f0-TxRx-0, a second one
  27:          5          5  virtio-mmio    5 Level     virtio0
 LOC:     136034     150368   Local timer interrupts
 ERR:          0
"""
DEVICES = "sys/devices/pci0000:00"
FILES = {
    f"{DEVICES}/0000:01:00.0/class": "0x010802\n",
    f"{DEVICES}/0000:01:00.0/numa_node": "-1\n",
    f"{DEVICES}/0000:01:00.0/local_cpulist": "0\n",
    f"{DEVICES}/0000:01:00.0/msi_irqs/24": "msix\n",
    f"{DEVICES}/0000:01:00.0/msi_irqs/25": "msix\n",
    f"{DEVICES}/0000:02:00.0/class": "0x020000\n",
    f"{DEVICES}/0000:02:00.0/irq": "26\n",
    "sys/devices/platform/virtio0/device": "0x0002\n",
    "proc/irq/25/smp_affinity_list": "0-1\n",
    "proc/irq/25/effective_affinity_list": "1\n",
    "proc/irq/25/node": "-1\n",
    "proc/irq/26/smp_affinity": "2\n",
}
LINKS = {
    "sys/bus/pci/devices/0000:01:00.0": "../../../devices/pci0000:00/0000:01:00.0",
    "sys/bus/pci/devices/0000:02:00.0": "../../../devices/pci0000:00/0000:02:00.0",
    "sys/class/block/nvme0n1": f"../../../{DEVICES}/0000:01:00.0/nvme/nvme0/nvme0n1",
    "sys/class/block/nvme0n1p1": f"../../../{DEVICES}/0000:01:00.0/nvme/nvme0/nvme0n1/nvme0n1p1",
    "sys/class/block/vda": "../../devices/platform/virtio0/block/vda",
    "sys/class/net/ens1f0": f"../../../{DEVICES}/0000:02:00.0/net/ens1f0",
    "sys/bus/virtio/devices/virtio0": "../../../devices/platform/virtio0",
}


@pytest.fixture
def host(tmp_path: Path) -> Path:
    table = {"proc/interrupts": TABLE.format(nvme=3)}
    return write(tmp_path, cpus(2) | FILES | table, LINKS)


def snapshot(host: Path) -> Snapshot:
    return read_snapshot(Root(host), name="host")


def test_lines_are_those_with_a_number() -> None:
    assert parse_interrupts(TABLE.format(nvme=3)) == {
        8: InterruptLine(1, "rtc0"),
        24: InterruptLine(3, "nvme0q0"),
        25: InterruptLine(42, "nvme0q1"),
        26: InterruptLine(7, "ens1f0-TxRx-0, a second one"),
        27: InterruptLine(10, "virtio0"),
    }
    assert parse_interrupts("") == {}


def test_each_line_has_its_device(host: Path) -> None:
    found = {i.number: (i.device, i.kind, i.queue) for i in snapshot(host).interrupts}
    assert found == {
        8: ("rtc0", DeviceKind.OTHER, None),
        24: ("nvme0", DeviceKind.STORAGE, 0),
        25: ("nvme0", DeviceKind.STORAGE, 1),
        26: ("ens1f0", DeviceKind.NETWORK, None),
        27: ("vda", DeviceKind.STORAGE, None),
    }


def test_where_it_fires_and_may(host: Path) -> None:
    by_number = {i.number: i for i in snapshot(host).interrupts}
    assert (by_number[25].effective, by_number[25].allowed) == ((1,), (0, 1))
    assert (by_number[26].effective, by_number[26].allowed) == ((), (1,))
    assert by_number[25].node is None


def test_a_queue_of_nvme_is_managed_its_admin_queue_is_not_known(host: Path) -> None:
    managed = {i.number: i.managed for i in snapshot(host).interrupts}
    assert managed == {8: None, 24: None, 25: True, 26: None, 27: None}


def test_debugfs_knows(host: Path) -> None:
    irqs = "sys/kernel/debug/irq/irqs"
    write(host, {f"{irqs}/24": "dstate: 0x0\n", f"{irqs}/25": "  IRQD_AFFINITY_MANAGED\n"})
    managed = {i.number: i.managed for i in snapshot(host).interrupts}
    assert (managed[24], managed[25]) == (False, True)


def test_rates_are_what_was_added_meanwhile(host: Path) -> None:
    def pause(_: float) -> None:
        write(host, {"proc/interrupts": TABLE.format(nvme=1000003)})

    asked = SnapshotRequest(seconds=0.001)
    found = read_snapshot(Root(host), name="host", asked=asked, pause=pause).interrupts
    by_number = {line.number: line.per_second for line in found}
    assert by_number[25] == 0
    assert by_number[24] is not None and by_number[24] > 0


def test_without_the_table_pci_says_which_numbers(host: Path) -> None:
    (host / "proc/interrupts").unlink()
    found = snapshot(host)
    assert [(i.number, i.device) for i in found.interrupts] == [(24, "nvme0"), (25, "nvme0")]
    assert "proc/interrupts" in {unread.what for unread in found.unread}


def test_a_device_without_names_or_place(host: Path) -> None:
    nvme, nic = snapshot(host).devices
    assert (nvme.name, nvme.names, nvme.cpus) == ("nvme0", ("nvme0n1",), (0,))
    assert (nic.name, nic.cpus) == ("ens1f0", (0, 1))
    (host / "sys/class/net/ens1f0").unlink()
    assert snapshot(host).devices[1].name == "0000:02:00.0"


@pytest.mark.parametrize(
    ("action", "queue"),
    [
        ("nvme0q12", 12),
        ("virtio1-req.3", 3),
        ("virtio2-input.0", 0),
        ("i40e-ens1f0-TxRx-5", 5),
        ("eth0-rx-2", 2),
        ("mlx5_comp7@pci:0000:3b:00.0", 7),
        ("mpt3sas0-msix4", 4),
        ("eth0", None),
        ("virtio1-config", None),
        ("ahci[0000:00:1f.2]", None),
        ("mlx5_async@pci:0000:3b:00.0", None),
        ("rtc0", None),
    ],
)
def test_queue(action: str, queue: int | None) -> None:
    assert queue_of(action) == queue


@given(st.dictionaries(st.integers(0, 9), st.integers(0, 1 << 40)), st.floats(0.1, 100))
def test_rates_are_never_negative(counts: dict[int, int], seconds: float) -> None:
    before = {number: InterruptLine(count, "x") for number, count in counts.items()}
    later = {number: InterruptLine(count // 2, "x") for number, count in counts.items()}
    assert all(rate >= 0 for rate in rates(before, later, seconds).values())
    assert rates(later, before, 0) == {}


def test_a_number_that_was_given_to_another_has_no_rate() -> None:
    assert rates({5: InterruptLine(1, "eth0")}, {5: InterruptLine(9, "nvme0q1")}, 1.0) == {}
