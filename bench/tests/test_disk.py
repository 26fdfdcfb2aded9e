"""`vas bench disk`: what is written where, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from vas_bench.disk.place import check_place, mount_of
from vas_bench.disk.programs import Fio, Iozone
from vas_cluster import parse_cluster
from vas_core.errors import BadInput, VasError
from vas_core.root import Root
from vas_lab.sites import lab_site_yaml

SITE = parse_cluster(lab_site_yaml(2), "site")
# Its table, as IOzone 3 lays it out.
TABLE = """
	Command line used: iozone -i 0 -i 1 -s 262144k -r 1024k -e -I -f /d/file
                                                              random    random
              kB  reclen    write  rewrite    read    reread    read     write
          262144    1024   100000   110000   200000   210000

iozone test complete.
"""


def a_root(tmp_path: Path, mounts: str) -> Root:
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/mounts").write_text(mounts)
    return Root(tmp_path)


def test_the_innermost_mount_is_the_directory_s(tmp_path: Path) -> None:
    mounts = "/dev/vda / ext4 rw 0 0\n/dev/vdb /var/lib/yarn xfs rw 0 0\nlus /var lustre rw 0 0\n"
    root = a_root(tmp_path, mounts)
    assert mount_of(root, Path("/var/lib/yarn/local")) == ("/dev/vdb", "xfs")
    assert mount_of(root, Path("/var/lib")) == ("lus", "lustre")
    assert mount_of(root, Path("/variable")) == ("/dev/vda", "ext4")


def test_a_storage_server_s_disk_is_left_alone(tmp_path: Path) -> None:
    root = a_root(tmp_path, "/dev/vda / ext4 rw 0 0\n")
    with pytest.raises(BadInput, match="is a storage server: its disks are others'"):
        check_place(root, SITE, "oss1.cluster", tmp_path, 1)
    check_place(root, SITE, "vm1", tmp_path, 1)


@pytest.mark.parametrize("kind", ["lustre", "nfs4", "tmpfs"])
def test_what_is_no_disk_of_this_machine_is_left_alone(tmp_path: Path, kind: str) -> None:
    root = a_root(tmp_path, f"something / {kind} rw 0 0\n")
    with pytest.raises(BadInput, match=f"is on {kind}"):
        check_place(root, SITE, "vm1", tmp_path, 1)


def test_a_device_under_an_ost_is_left_alone(tmp_path: Path) -> None:
    root = a_root(tmp_path, "/dev/vas-ost0 / ext4 rw 0 0\n")
    host = SITE.hosts[0].model_copy(update={"storage_devices": ["/dev/vas-ost0"]})
    site = SITE.model_copy(update={"hosts": [host, SITE.hosts[1]]})
    with pytest.raises(BadInput, match="is on /dev/vas-ost0, which is under an OST"):
        check_place(root, site, "vm1", tmp_path, 1)


def test_a_disk_without_room_is_left_alone(tmp_path: Path) -> None:
    root = a_root(tmp_path, "/dev/vda / ext4 rw 0 0\n")
    with pytest.raises(BadInput, match="lower --size"):
        check_place(root, SITE, "vm1", tmp_path, shutil.disk_usage(tmp_path).free // 2)


def test_iozone_s_first_passes_count() -> None:
    (argv,) = Iozone().commands("/d/file", 256 << 20)
    assert " ".join(argv) == "iozone -i 0 -i 1 -s 262144k -r 1024k -e -I -f /d/file"
    speeds = Iozone().speeds([TABLE])
    assert (speeds.write, speeds.read) == (100000 * 1024, 200000 * 1024)
    with pytest.raises(VasError, match="it printed no speeds"):
        Iozone().speeds(["iozone: interrupted"])


def test_fio_writes_then_reads() -> None:
    write, read = Fio().commands("/d/file", 1 << 20)
    assert "--rw=write" in write and "--end_fsync=1" in write and "--rw=read" in read
    still = {"io_bytes": 0, "bw_bytes": 0, "runtime": 0}
    moved = {"io_bytes": 1 << 20, "bw_bytes": 5, "runtime": 9}

    def report(**amounts: dict[str, int]) -> str:
        job = {"jobname": "disk", "error": 0, "read": still, "write": still, **amounts}
        return json.dumps({"jobs": [job]})

    speeds = Fio().speeds([report(write=moved), report(read=moved)])
    assert (speeds.write, speeds.read) == (5.0, 5.0)
