"""The counters of a guest's legs, from /proc/PID/net/dev."""

from __future__ import annotations

from pathlib import Path

import yaml

from vas_cluster import parse_cluster
from vas_core.root import Root
from vas_lab.network.paths import read_paths
from vas_lab.sites import net_site

CLUSTER = parse_cluster(yaml.safe_dump(net_site()), "net")
# As Linux 6.18 prints it.
DEV = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:       0       0    0    0    0     0          0         0        0       0    0    0    0     0       0          0
   vf0:    1001      11    0    0    0     0          0         0     2002      22    0    0    0     0       0          0
virtio0:3003333333      33    0    0    0     0          0         0     4004      44    0    0    0     0       0          0
"""  # noqa: E501


def test_both_legs_of_a_guest(tmp_path: Path) -> None:
    for process in ("7", "self"):
        net = tmp_path / "proc" / process / "net"
        net.mkdir(parents=True)
        (net / "dev").write_text(DEV)
    rows = read_paths(Root(tmp_path), CLUSTER, {"vm1": 7, "vm2": "self", "vm3": 8, "oss1": 7})
    assert [(row.node, row.leg, row.device, row.carries) for row in rows] == [
        ("vm1", "virtio", "virtio0", "oss1, vm4"),
        ("vm1", "sriov", "vf0", "all else"),
        ("vm2", "virtio", "virtio0", "oss2"),
        ("vm2", "sriov", "vf0", "all else"),
    ]
    assert (rows[0].rx_bytes, rows[0].tx_bytes) == (3003333333, 4004)
    assert (rows[1].rx_packets, rows[1].tx_packets) == (11, 22)
