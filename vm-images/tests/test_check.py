"""Booting an image: the command line, the seed and the verdict, without a machine."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from vas_image.check.machine import Boot, qemu_argv
from vas_image.check.seed import check_seed, site
from vas_image.check.verdict import Verdict, judge
from vas_image.definition import System
from vas_image.image import Image

IMAGE = Image(
    system=System.DEBIAN_12,
    builder="quick",
    source_date_epoch=0,
    mirror=None,
    kernel_command_line="console=ttyS0",
    boots_by_itself=False,
    virtual_bytes=1 << 31,
    packages=1,
    jars=1,
)
GOOD = Verdict(
    state="running",
    node={"nodeHealthy": True, "hadoopVersion": "3.5.0"},
    hostname="vas-check",
    machine_id="0" * 32,
    cloud_init="done",
    seed="Valid cloud-config: system userdata",
    addresses=["lo UNKNOWN 127.0.0.1/8", "vf0 UP 192.0.2.21/24"],
    routed="Usage: vas-routed [OPTIONS]",
)


def boot(kvm: bool = False) -> Boot:
    work = Path("/work,1")
    return Boot(Path("/image"), IMAGE, work / "seed.iso", ("m1", "m2"), work, kvm=kvm)


def test_no_nic_leads_anywhere_and_no_disk_is_written_to() -> None:
    argv = qemu_argv(boot())
    backends = [argv[i + 1] for i, word in enumerate(argv) if word == "-netdev"]
    assert [backend.partition(",")[0] for backend in backends] == ["hubport"] * 4
    drives = [argv[i + 1] for i, word in enumerate(argv) if word == "-drive"]
    assert all("snapshot=on" in drive or "readonly=on" in drive for drive in drives)
    assert "file=/work,,1/seed.iso" in drives[1]


def test_kvm_is_used_only_when_asked_for() -> None:
    assert "kvm" not in qemu_argv(boot())
    assert "kvm" in qemu_argv(boot(kvm=True))


def test_the_seed_is_a_guests_own_with_the_examiner() -> None:
    found = yaml.safe_load(check_seed(kvm=False)["user-data"])
    written = {one["path"]: one["content"] for one in found["write_files"]}
    compile(written["/run/vas-check.py"], "examiner", "exec")
    assert "org.vas.filesystem.LustreFileSystem" in written["/etc/vas/hadoop/yarn-site.xml"]
    assert "/etc/vas/cluster.yaml" in written


def broken(verdict: Verdict, agent: bool = True) -> list[str]:
    return [rule.name for rule in judge(verdict, site()[1], agent=agent) if not rule.ok]


def test_a_good_verdict_is_good() -> None:
    assert broken(GOOD) == []
    assert broken(GOOD, agent=False) == ["the guest agent answers"]


@pytest.mark.parametrize(
    ("update", "rule"),
    [
        ({"state": "degraded", "failed": ["x.service"]}, "the system runs"),
        ({"cloud_init": "error"}, "cloud-init read the seed"),
        ({"seed": ""}, "cloud-init's schema takes the seed"),
        ({"hostname": "localhost"}, "it has the seed's name"),
        ({"machine_id": ""}, "it has a machine-id of its own"),
        ({"addresses": ["vf0 UP 192.0.2.210/24"]}, "it has the seed's address"),
        ({"node": {"why": "refused"}}, "the NodeManager is healthy"),
        ({"node": {"nodeHealthy": False}}, "the NodeManager is healthy"),
        ({"routed": "not found"}, "VAS's programs start"),
    ],
)
def test_each_part_counts(update: dict[str, object], rule: str) -> None:
    assert broken(GOOD.model_copy(update=update)) == [rule]
