"""An image's directory, and the box made of it."""

from __future__ import annotations

import json
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.process import run
from vas_core.seed import read_seed
from vas_image.box.pack import box_seed, box_vagrantfile, pack_box
from vas_image.definition import System
from vas_image.image import BILL, DISK, INITRD, KERNEL, Image, check_sums, read_image, write_image

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIA== somebody@example"


def image(directory: Path, *, boots: bool = True) -> Path:
    for name in (DISK, KERNEL, INITRD, BILL):
        (directory / name).write_text(name)
    about = Image(
        system=System.ROCKY_9,
        builder="mkosi",
        source_date_epoch=86400,
        mirror=None,
        kernel_command_line="",
        boots_by_itself=boots,
        virtual_bytes=(3 << 30) + 1,
        packages=1,
        jars=1,
    )
    write_image(directory, about)
    assert read_image(directory) == about
    return directory


def test_a_changed_file_is_found(tmp_path: Path) -> None:
    assert all(ok for _, ok in check_sums(image(tmp_path)))
    (tmp_path / INITRD).write_text("another")
    (tmp_path / KERNEL).unlink()
    assert {name for name, ok in check_sums(tmp_path) if not ok} == {INITRD, KERNEL}


@pytest.mark.unhurried
def test_where_there_is_none_it_is_said_how_to_make_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["image", "inspect", str(tmp_path)]) == 2
    assert "vas image build" in capsys.readouterr().err


def test_a_boxs_network_is_left_to_cloud_init_and_vagrant() -> None:
    """An entry of `network-config` without a MAC address would configure no NIC at all."""
    assert set(box_seed(KEY)) == {"meta-data", "user-data"}


def test_a_box_has_what_vagrant_wants(tmp_path: Path) -> None:
    box = tmp_path / "a.box"
    pack_box(image(tmp_path), box, f"{KEY}\n")
    with tarfile.open(box) as archive:
        assert archive.getnames() == ["metadata.json", "Vagrantfile", "seed.iso", "box.img"]
        member = archive.extractfile("metadata.json")
        assert member is not None
        assert json.load(member) == {"provider": "libvirt", "format": "qcow2", "virtual_size": 4}
        seed = archive.extractfile("seed.iso")
        assert seed is not None
        (tmp_path / "seed.iso").write_bytes(seed.read())
        disk = archive.extractfile("box.img")
        assert disk is not None and disk.read() == DISK.encode()
    assert KEY in read_seed(tmp_path / "seed.iso")["user-data"]


def test_a_disk_without_a_boot_loader_has_its_kernel_beside_it(tmp_path: Path) -> None:
    box = tmp_path / "a.box"
    about = pack_box(image(tmp_path, boots=False), box, KEY)
    with tarfile.open(box) as archive:
        assert archive.getnames()[-3:] == [KERNEL, INITRD, "box.img"]
    assert 'libvirt.cmd_line = "root=LABEL=vas-root ' in box_vagrantfile(about)
    assert "OVMF" not in box_vagrantfile(about)


@pytest.mark.parametrize(
    "text", ["-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", "", f"{KEY}\n{KEY}"]
)
def test_a_private_key_is_not_packed(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="not a public SSH key"):
        pack_box(image(tmp_path), tmp_path / "a.box", text)
    assert not (tmp_path / "a.box").exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("vagrant") is None, reason="no vagrant (package vagrant)")
@pytest.mark.parametrize("boots", [True, False])
def test_vagrant_takes_the_box_and_reads_its_settings(tmp_path: Path, boots: bool) -> None:
    box, home = tmp_path / "a.box", tmp_path / "home"
    pack_box(image(tmp_path, boots=boots), box, KEY)
    text = 'Vagrant.configure("2") { |config| config.vm.box = "vas/guest" }'
    (tmp_path / "Vagrantfile").write_text(text)
    env = {**os.environ, "VAGRANT_HOME": str(home), "VAGRANT_CHECKPOINT_DISABLE": "1"}
    run(["vagrant", "box", "add", "--name", "vas/guest", box], env=env, cwd=tmp_path)
    env["VAS_SSH_KEY"] = str(tmp_path / "key")
    done = run(["vagrant", "validate"], env=env, cwd=tmp_path, check=False)
    assert f"must exist: {tmp_path}/key" in done.stderr  # the box's own Vagrantfile is read
    (tmp_path / "key").touch()
    run(["vagrant", "validate"], env=env, cwd=tmp_path)
    beside = home / "boxes/vas-VAGRANTSLASH-guest/0/libvirt" / KERNEL
    assert beside.exists() is not boots
