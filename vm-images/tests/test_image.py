"""An image's directory, and the box made of it."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.seed import read_seed
from vas_image.box.pack import pack_box
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


def test_where_there_is_none_it_is_said_how_to_make_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["image", "inspect", str(tmp_path)]) == 2
    assert "vas image build" in capsys.readouterr().err


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


def test_a_disk_without_a_boot_loader_is_no_box(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no boot loader"):
        pack_box(image(tmp_path, boots=False), tmp_path / "a.box", KEY)


@pytest.mark.parametrize(
    "text", ["-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n", "", f"{KEY}\n{KEY}"]
)
def test_a_private_key_is_not_packed(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadInput, match="no public SSH key"):
        pack_box(image(tmp_path), tmp_path / "a.box", text)
    assert not (tmp_path / "a.box").exists()
