"""A guest's disks: made where they are not, and never written to where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_cluster import Guest, load_cluster
from vas_cluster.model import Disk
from vas_core.errors import BadInput
from vas_core.process import CommandFailed
from vas_guest.disks import lacking, make, refuse_osts

SITE = Path(__file__).parents[2] / "cluster/examples/four-oss.yaml"


def guest(*paths: Path | str) -> Guest:
    disks = [Disk(path=str(path), size="1GiB") for path in paths]
    return load_cluster(SITE).guests()[0].model_copy(update={"disks": disks})


def test_the_first_disk_needs_an_image(tmp_path: Path) -> None:
    one = guest(tmp_path / "a.qcow2")
    with pytest.raises(BadInput, match="--image"):
        list(make(one, None))
    with pytest.raises(BadInput, match="no such image"):
        list(make(one, tmp_path / "none"))
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_nobodys_to_make(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="logical volume"):
        list(make(guest("/dev/vas-no-such"), tmp_path))


def test_what_is_there_stays_as_it_is(tmp_path: Path) -> None:
    disk = tmp_path / "a.raw"
    disk.write_text("somebody's data")
    assert lacking(guest(disk)) == []
    assert list(make(guest(disk), None)) == []
    assert disk.read_text() == "somebody's data"


def test_a_link_to_a_device_under_an_ost_is_refused(tmp_path: Path) -> None:
    device, link, other = (tmp_path / name for name in ("ost0", "by-id", "other"))
    link.symlink_to(device)
    host = load_cluster(SITE).hosts[0].model_copy(update={"storage_devices": [str(device)]})
    refuse_osts(host, guest(other))
    with pytest.raises(BadInput, match="which an OST is on"):
        refuse_osts(host, guest(other, link))


@pytest.mark.unhurried
@pytest.mark.machine
@pytest.mark.usefixtures("strict_umask")
def test_an_image_becomes_the_first_disk_and_others_are_empty(tmp_path: Path) -> None:
    image, first, second = (tmp_path / name for name in ("image", "c/d/a.raw", "c/d/b.raw"))
    image.write_bytes(b"image" + bytes(1 << 20))
    made = list(make(guest(first, second), image))
    assert [disk.path for disk in made] == [str(first), str(second)]
    assert first.read_bytes()[:5] == b"image"
    assert [disk.stat().st_size for disk in (first, second)] == [1 << 30, 1 << 30]
    assert sorted(path.name for path in first.parent.iterdir()) == ["a.raw", "b.raw"]
    modes = [path.stat().st_mode & 0o777 for path in (first, first.parent, tmp_path / "c")]
    assert modes == [0o600, 0o711, 0o755]  # QEMU's user reaches it


@pytest.mark.machine
def test_D3_a_disk_is_made_under_a_name_that_nobody_can_foresee(tmp_path: Path) -> None:
    """qemu-img follows links: one at the name of an unfinished disk led to somebody's file."""
    victim, disk = tmp_path / "victim", tmp_path / "d/a.raw"
    victim.write_text("somebody's data")
    disk.parent.mkdir()
    (disk.parent / ".a.raw.new").symlink_to(victim)
    image = tmp_path / "image"
    image.write_bytes(bytes(4096))
    list(make(guest(disk), image))
    assert victim.read_text() == "somebody's data"
    assert disk.stat().st_size == 1 << 30 and not disk.is_symlink()


@pytest.mark.machine
def test_what_fails_leaves_no_disk(tmp_path: Path) -> None:
    image, disk = tmp_path / "image", tmp_path / "d" / "a.qcow2"
    too_small = guest(disk).model_copy(update={"disks": [Disk(path=str(disk), size="1MiB")]})
    image.write_bytes(bytes(4 << 20))
    with pytest.raises(CommandFailed, match="shrink"):
        list(make(too_small, image))
    assert list(disk.parent.iterdir()) == []
