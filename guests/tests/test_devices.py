"""A device that a guest is to have: somebody else's is refused, by what it is and not its name."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from vas_core.errors import BadInput
from vas_core.process import run
from vas_guest.devices import refuse_claimed, refuse_data, refuse_foreign
from vas_guest.settings import GuestSettings

pytestmark = pytest.mark.machine
_SECTOR = 512


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    file = tmp_path / "disk"
    file.touch()
    os.truncate(file, 16 << 20)
    return file


@pytest.fixture
def device(disk: Path) -> Iterator[str]:
    """A loop device of that disk, by another name."""
    made = run(["losetup", "--find", "--show", disk], check=False)
    if made.status:
        pytest.skip(f"no loop device: {made.stderr.strip()}")
    link = disk.with_name("by-id")
    link.symlink_to(made.stdout.strip())
    yield str(link)
    run(["losetup", "--detach", made.stdout.strip()])


def file_system(file: Path | str, label: str) -> None:
    run(["mke2fs", "-q", "-F", "-t", "ext4", "-L", label, file])


def test_an_empty_disk_is_nobodys(disk: Path) -> None:
    refuse_data(str(disk), may_be_image=False)


def test_a_file_system_is_somebodys_but_for_the_image_on_the_first_disk(disk: Path) -> None:
    file_system(disk, "lustre-OST0000")
    for may in (False, True):
        with pytest.raises(BadInput, match="somebody's data: ext4"):
            refuse_data(str(disk), may_be_image=may)
    file_system(disk, "vas-root")
    refuse_data(str(disk), may_be_image=True)
    with pytest.raises(BadInput, match="used_disks"):
        refuse_data(str(disk), may_be_image=False)


@pytest.mark.parametrize(("name", "refused"), [("vas-root", False), ("zfs-ost0", True)])
def test_a_whole_image_is_known_by_its_partition(disk: Path, name: str, refused: bool) -> None:
    write_gpt(disk, name)
    if not refused:
        refuse_data(str(disk), may_be_image=True)
        return
    with pytest.raises(BadInput, match="somebody's data: gpt"):
        refuse_data(str(disk), may_be_image=True)


def test_what_somebody_has_open_for_himself_is_refused(device: str) -> None:
    refuse_claimed(device)
    holder = os.open(device, os.O_RDONLY | os.O_EXCL)  # as a mount, or device-mapper
    try:
        with pytest.raises(BadInput, match="is in use"):
            refuse_foreign([device], GuestSettings(), [])
        refuse_foreign([device], GuestSettings(), [os.path.realpath(device)])
    finally:
        os.close(holder)


def test_a_device_with_data_is_the_guests_where_it_was_or_where_that_is_said(device: str) -> None:
    refuse_foreign([device], GuestSettings(), [])
    file_system(device, "data")
    with pytest.raises(BadInput, match="somebody's data"):
        refuse_foreign([device], GuestSettings(), [])
    refuse_foreign([device], GuestSettings(), [os.path.realpath(device)])
    refuse_foreign([device], GuestSettings(used_disks=[device]), [])


def test_a_file_and_what_is_not_there_are_not_devices(disk: Path) -> None:
    file_system(disk, "data")
    refuse_foreign([str(disk), f"{disk}.none"], GuestSettings(), [])


def write_gpt(file: Path, name: str) -> None:
    """A protective MBR, and a GPT with one partition of that name (UEFI 2.10, section 5.3)."""
    sectors = file.stat().st_size // _SECTOR
    mbr = bytes(446) + struct.pack("<8B2L", 0, 0, 2, 0, 0xEE, 255, 255, 255, 1, sectors - 1)
    mbr = mbr.ljust(510, b"\0") + b"\x55\xaa"
    entry = b"\x11" * 32 + struct.pack("<QQQ", 2048, 4095, 0) + name.encode("utf-16-le")
    entries = entry.ljust(128 * 128, b"\0")
    fields = (b"EFI PART", 0x10000, 92, 0, 0, 1, sectors - 1, 34, sectors - 34, b"\x22" * 16)
    fields += (2, 128, 128, zlib.crc32(entries))
    form = "<8sLLLLQQQQ16sQLLL"
    checksum = zlib.crc32(struct.pack(form, *fields))
    header = struct.pack(form, *fields[:3], checksum, *fields[4:])
    with file.open("r+b") as stream:
        stream.write(mbr + header.ljust(_SECTOR, b"\0") + entries)
