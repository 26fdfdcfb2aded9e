"""Jars that `vas submit` cannot read."""

from __future__ import annotations

import resource
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from vas_core.errors import BadInput
from vas_yarn.submit.entry import find_entry


@contextmanager
def limited_memory() -> Iterator[None]:
    """Lets this process take 2 GiB more than it has: a dictionary of 4 GiB is refused at once."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + (2 << 30)
    resource.setrlimit(resource.RLIMIT_AS, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.machine
@pytest.mark.parametrize(
    ("compression", "at", "damage"),
    [
        (zipfile.ZIP_DEFLATED, 50, b"\xff" * 12),  # zlib.error
        (zipfile.ZIP_LZMA, 55, b"\xff" * 4),  # MemoryError: a dictionary of 4 GiB
        (zipfile.ZIP_LZMA, 54, b"\xff"),  # lzma.LZMAError
        (zipfile.ZIP_BZIP2, 50, b"\xff" * 12),
        (zipfile.ZIP_STORED, -60, b"PK\x01\x02\x00\x00\x00\x00\x00\x08"),
    ],
)
def test_a_damaged_jar_is_one_line(
    compression: int, at: int, damage: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "damaged.jar"
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("META-INF/MANIFEST.MF", "Main-Class: a.B\n" + "X: y\n" * 50)
    content = bytearray(path.read_bytes())
    content[at : at + len(damage) if at > 0 else None] = damage
    path.write_bytes(content)
    message = r"damaged\.jar: cannot be read as a jar: \S"
    with limited_memory(), pytest.raises(BadInput, match=message):
        find_entry(path, [])


def test_a_jar_with_a_name_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "damaged.jar"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("Main-Cläss", "")
    path.write_bytes(path.read_bytes().replace("ä".encode(), b"\xff\xff"))
    with pytest.raises(BadInput, match="cannot be read as a jar: 'utf-8' codec"):
        find_entry(path, [])


def test_a_list_of_members_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    huge = tmp_path / "huge.jar"
    huge.write_bytes(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 17 << 20, 0, 0))
    with pytest.raises(BadInput, match="the list of its members has more than 16 MiB"):
        find_entry(huge, [])


def test_a_device_is_no_jar() -> None:
    with pytest.raises(BadInput, match="not a file"):
        find_entry(Path("/dev/zero"), [])
