"""What the lab's supervisor calls, and the running MDS."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from stand_in import in_lab, start_lab, stop

from vas_core.errors import VasError
from vas_core.process import run
from vas_core.root import Root
from vas_lab.lustre.mds.client import call
from vas_lab.lustre.stand_in import LabLustre
from vas_layout.codec import decode
from vas_layout.model import Plain

pytestmark = pytest.mark.machine


@pytest.mark.unhurried
def test_sysfs_names_the_nid_of_each_ost_and_follows_a_failover(tmp_path: Path) -> None:
    lab = LabLustre(state_dir=tmp_path, mount=tmp_path / "data", fsname="lab", osts=[0, 1, 10])
    lab.prepare({0: "10.77.0.11@tcp", 1: "10.77.0.12@tcp"})
    root = Root(lab.sysfs)
    assert root.read("version") == "2.17.57"
    name = "osc/lab-OST{}-osc-ff35e01fe8bb4000/ost_conn_uuid"
    nids = [root.read(name.format(index)) for index in ("0000", "0001", "000a")]
    assert nids == ["10.77.0.11@tcp", "10.77.0.12@tcp", "0@lo"]
    lab.serve(0, "10.77.0.12@tcp")
    assert root.read(name.format("0000")) == "10.77.0.12@tcp"
    assert (lab.sysfs / name.format("0000")).stat().st_mode & 0o777 == 0o444


def test_the_environment_keeps_what_was_there(tmp_path: Path) -> None:
    lab = LabLustre(state_dir=tmp_path, mount=tmp_path / "data", fsname="lab", osts=[0])
    env = lab.environment({"LD_PRELOAD": "/other.so", "PATH": "/bin", "HOME": "/root"})
    assert env["LD_PRELOAD"].endswith("liblustre_preload.so:/other.so")
    assert env["PATH"] == f"{tmp_path}/bin:/bin"
    assert env["HOME"] == "/root"
    assert lab.environment(env)["LD_PRELOAD"] == env["LD_PRELOAD"]


@pytest.mark.unhurried
def test_a_killed_mds_starts_again_where_it_was(tmp_path: Path) -> None:
    lab, mds = start_lab(tmp_path)
    in_lab(lab, "lctl pool_new testfs.fast; lctl pool_add testfs.fast OST0000; echo x > one")
    mds.send_signal(signal.SIGKILL)
    mds.wait()
    again = subprocess.Popen(lab.mds_argv())
    try:
        lab.wait_ready()
        lab.prepare()
        in_lab(lab, "echo x > two; lfs setstripe -p fast three")
        layouts = [
            decode(os.getxattr(lab.mount / n, "user.lustre.lov")) for n in ("one", "two", "three")
        ]
        fids = {str(item.fid) for layout in layouts for item in layout.objects}  # type: ignore[union-attr]
        assert len(fids) == 3
    finally:
        stop(again)


@pytest.mark.unhurried
def test_a_second_mds_on_the_same_state_ends_at_once(start: Callable[..., LabLustre]) -> None:
    lab = start()
    second = subprocess.run(lab.mds_argv(), capture_output=True, text=True, timeout=30, check=False)
    assert second.returncode == 1
    assert "another MDS" in second.stderr
    call(lab.socket, "ping")


def test_waiting_for_an_mds_that_never_comes_says_where(tmp_path: Path) -> None:
    lab = LabLustre(state_dir=tmp_path, mount=tmp_path / "data", fsname="lab", osts=[0])
    with pytest.raises(VasError, match=r"mds\.sock: the MDS does not answer"):
        lab.wait_ready(timeout_seconds=0.1)


@pytest.mark.unhurried
def test_nonsense_and_slow_clients_do_not_stop_the_others(start: Callable[..., LabLustre]) -> None:
    lab = start()
    with socket.socket(socket.AF_UNIX) as silent, socket.socket(socket.AF_UNIX) as garbage:
        silent.connect(str(lab.socket))
        silent.sendall(b'{"op": "pi')
        garbage.connect(str(lab.socket))
        garbage.sendall(b"not json\n")
        assert json.loads(garbage.makefile().readline()) == {"errno": 22}
        in_lab(lab, "echo x > other")
        silent.sendall(b'ng"}\n')
        assert json.loads(silent.makefile().readline()) == {"errno": 0}
    assert os.getxattr(lab.mount / "other", "user.lustre.lov")


@pytest.mark.unhurried
def test_clients_in_mount_namespaces_of_their_own_are_served(
    start: Callable[..., LabLustre],
) -> None:
    # The MDS reads a file's directory off the descriptor that came from another namespace.
    lab = start()
    if run(["unshare", "-Urm", "true"], check=False).status != 0:
        pytest.skip("this machine refuses user namespaces")
    in_lab(lab, "mkdir d; lfs setstripe -c 3 d; unshare -Urm touch d/inside")
    layout = decode(os.getxattr(lab.mount / "d/inside", "user.lustre.lov"))
    assert layout.stripe_count == 3  # type: ignore[union-attr]


@pytest.mark.unhurried
def test_R2_migrate_drops_mirrors_and_takes_the_directorys_pool(
    start: Callable[..., LabLustre],
) -> None:
    """As a real Lustre does: who calls it has to keep them."""
    lab = start()
    in_lab(lab, "lctl pool_new testfs.few && lctl pool_add testfs.few OST[0-1]")
    in_lab(lab, "lfs setstripe -N2 -c 1 m; mkdir d; lfs setstripe -p few d")
    in_lab(lab, "head -c 3M /dev/zero > d/f; head -c 3M /dev/zero > m")
    in_lab(lab, "lfs migrate -S 1M -c 4 m && lfs migrate -S 1M -c 4 d/f")
    mirrored, pooled = (
        decode(os.getxattr(lab.mount / name, "user.lustre.lov")) for name in ("m", "d/f")
    )
    assert isinstance(mirrored, Plain)
    assert isinstance(pooled, Plain)
    assert (mirrored.stripe_count, mirrored.pool) == (4, None)
    assert (pooled.stripe_count, pooled.pool) == (2, "few")


@pytest.mark.unhurried
def test_H6_migrate_refuses_a_file_in_use(start: Callable[..., LabLustre]) -> None:
    lab = start()
    in_lab(lab, "head -c 1M /dev/zero > f")
    with (lab.mount / "f").open("rb"):
        done = in_lab(lab, "lfs migrate -n -S 1M -c 4 f", check=False)
    assert done.status == errno.EBUSY
    assert in_lab(lab, "lfs migrate -n -S 1M -c 4 f").status == 0


@pytest.mark.unhurried
def test_migrate_gives_new_objects_and_keeps_bytes_and_fid(start: Callable[..., LabLustre]) -> None:
    lab = start()
    in_lab(lab, "head -c 3M /dev/urandom > f; cp f ../copy; lfs path2fid f > ../fid")
    before = decode(os.getxattr(lab.mount / "f", "user.lustre.lov"))
    done = in_lab(lab, "lfs migrate -S 1M -c 4 f && cmp f ../copy && lfs path2fid f | cmp - ../fid")
    after = decode(os.getxattr(lab.mount / "f", "user.lustre.lov"))
    assert done.status == 0
    assert (after.stripe_count, after.stripe_size) == (4, 1 << 20)  # type: ignore[union-attr]
    old, new = ({str(o.fid) for o in layout.objects} for layout in (before, after))  # type: ignore[union-attr]
    assert old.isdisjoint(new)
