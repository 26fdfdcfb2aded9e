"""Lustre's targets of a lab, and which disks may become one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from modules import load

from vas_ansible.targets import LustreTarget, refusal, targets
from vas_cluster import load_cluster, parse_cluster
from vas_core.errors import BadInput
from vas_core.process import run

EXAMPLE = Path(__file__).parents[2] / "cluster/examples/four-oss.yaml"
SITE = load_cluster(EXAMPLE)
OST = LustreTarget("OST0001", "/dev/vdb", ())
_MKE2FS = "/usr/sbin/mke2fs"


def test_an_oss_has_the_map_s_osts_on_the_map_s_disks() -> None:
    found = targets(SITE, "oss02.hpc.example", "")
    assert [(t.name, t.device) for t in found] == [
        ("OST0002", "/dev/mapper/ost0002"),
        ("OST0003", "/dev/mapper/ost0003"),
    ]
    nodes = ["--mgsnode=192.0.2.1@tcp", "--mgsnode=192.0.2.2@tcp"]
    argv = ["--fsname=scratch", "--ost", "--index=3", *nodes, "/dev/mapper/ost0003"]
    assert list(found[1].argv[1:]) == argv
    assert found[1].unit == "srv-lustre-OST0003.mount"


def test_indices_are_hexadecimal_in_names_alone() -> None:
    text = EXAMPLE.read_text().replace("osts: [0, 1]", "osts: [10, 31]")
    found = targets(parse_cluster(text, "x"), "oss01.hpc.example", "")
    assert [t.name for t in found] == ["OST000a", "OST001f"]
    assert "--index=31" in found[1].argv


def test_a_machine_beside_the_map_has_the_mdt_alone() -> None:
    found = targets(SITE, "mds1", "/dev/vdb")
    assert [(t.name, t.device, t.mount) for t in found] == [
        ("MDT0000", "/dev/vdb", "/srv/lustre/MDT0000")
    ]
    assert {"--mgs", "--mdt"} < set(found[0].argv)
    assert targets(SITE, "client1", "") == []


def test_an_ost_without_a_disk_is_an_error() -> None:
    devices = "    storage_devices: [/dev/mapper/ost0000, /dev/mapper/ost0001]\n"
    text = EXAMPLE.read_text().replace(devices, "")
    with pytest.raises(BadInput, match=r"oss01\.hpc\.example: has 2 OSTs on 0 disks"):
        targets(parse_cluster(text, "x"), "oss01.hpc.example", "")


@pytest.mark.parametrize("label", ["lab-OST0001", "lab:OST0001", "lab=OST0001"])
def test_a_disk_that_is_the_target_already_is_left_as_it_is(label: str) -> None:
    assert refusal("lab", OST, f"ext4 {label}\n") is None
    assert refusal("lab", OST, "") is None


@pytest.mark.parametrize(
    "signatures",
    [
        "xfs  data\n",
        "ext4\n",
        "ext4 lab-OST0002\n",
        "ext4 lab-MDT0000\n",
        "ext4 other-OST0001\n",
        "ext4 lab-OST00010\n",
        "gpt\ngpt\nPMBR\n",
        "ext4 lab-OST0001\nLVM2_member\n",
    ],
)
def test_a_disk_with_anything_else_is_refused(signatures: str) -> None:
    said = refusal("lab", OST, signatures)
    assert said
    assert said.startswith(f"/dev/vdb: has {signatures.split()[0]}")


@pytest.mark.machine
@pytest.mark.skipif(shutil.which("wipefs") is None, reason="not installed: wipefs")
@pytest.mark.skipif(not Path(_MKE2FS).exists(), reason="not installed: mke2fs")
def test_wipefs_and_ldiskfs_labels_are_as_is_thought(tmp_path: Path) -> None:
    """ldiskfs is ext4 to all but Lustre: a real one's label, as wipefs says it."""

    def found(*words: str) -> str:
        disk = tmp_path / "disk"
        disk.unlink(missing_ok=True)
        with disk.open("w") as stream:
            stream.truncate(16 << 20)
        if words:
            run([_MKE2FS, "-q", "-t", "ext4", *words, disk])
        look = ["wipefs", "--no-act", "--noheadings", "--output", "TYPE,LABEL", disk]
        return run(look).stdout

    assert refusal("lab", OST, found()) is None
    assert refusal("lab", OST, found("-L", "lab:OST0001")) is None
    assert refusal("lab", OST, found("-L", "photographs"))
    assert refusal("lab", OST, found("-O", "^has_journal"))


def test_ansible_s_filters_say_the_same() -> None:
    plugin = load("filter/vas_targets.py").FilterModule().filters()
    made = plugin["vas_targets"](str(EXAMPLE), "oss01.hpc.example", "")
    assert made == [
        {**{k: getattr(t, k) for k in ("name", "device", "mount", "unit")}, "argv": list(t.argv)}
        for t in targets(SITE, "oss01.hpc.example", "")
    ]
    texts = ["", "xfs backup\n"]
    said = plugin["vas_target_refusals"](str(EXAMPLE), "oss01.hpc.example", "", texts)
    assert [line.partition(":")[0] for line in said] == ["/dev/mapper/ost0001"]
