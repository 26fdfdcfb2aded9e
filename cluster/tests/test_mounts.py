"""The mounted Lustre clients of a machine, and the mode of their locks."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_cluster import Flock
from vas_cluster.discover.client import read_client
from vas_cluster.mounts import lustre_mounts
from vas_core.root import Root


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        ("rw,checksum,flock,user_xattr,lazystatfs", Flock.FLOCK),
        ("rw,localflock,lazystatfs", Flock.LOCALFLOCK),
        ("rw,checksum,noflock,nouser_xattr", Flock.NOFLOCK),
        # A client without locks before 2.12.3 lists no word.
        ("rw,lazystatfs", Flock.NOFLOCK),
    ],
)
def test_a_mode_is_the_same_for_all_who_read_it(options: str, mode: Flock, tmp_path: Path) -> None:
    line = f"192.0.2.1@tcp:/scratch /lustre lustre {options} 0 0\n"
    assert [mount.mode for mount in lustre_mounts(line)] == [mode]
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/mounts").write_text(line)
    assert read_client(Root(tmp_path)).flock == mode.value


def test_disks_of_servers_are_no_clients() -> None:
    text = (
        "/dev/sdb /mnt/ost0 lustre rw,svname=scratch-OST0000,mgsnode=192.0.2.1@tcp 0 0\n"
        "192.0.2.1@tcp:/scratch /lustre/a\\040ü lustre rw,flock 0 0\n"
        "/dev/sda / ext4 rw 0 0\nodd\n"
    )
    assert [(m.source, m.point) for m in lustre_mounts(text)] == [
        ("192.0.2.1@tcp:/scratch", Path("/lustre/a ü"))
    ]
