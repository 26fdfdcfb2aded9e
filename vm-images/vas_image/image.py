"""Reads and writes the description and check sums of an image, the files of one directory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from vas_core.documents import read_json
from vas_core.errors import BadInput
from vas_core.files import write_atomically
from vas_core.reading import read_limited
from vas_image.definition import System

DISK, KERNEL, INITRD = "vas-guest.qcow2", "vas-guest.vmlinuz", "vas-guest.initrd"
BILL, SUMS, ABOUT = "vas-guest.cdx.json", "SHA256SUMS", "image.json"
_PIECE_BYTES = 1 << 20
_MOST_BYTES = 1 << 20


class Image(BaseModel):
    """The description of an image in `image.json`. The kernel and initrd lie next to the disk.

    `mirror` and `security_mirror` are the sources of the packages, None for the default;
    `tree_digest`, of the quick builder, is equal for two builds of the same content.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    system: System
    builder: str
    source_date_epoch: int
    mirror: str | None
    security_mirror: str | None = None
    kernel_command_line: str
    root: str = "LABEL=vas-root"
    boots_by_itself: bool
    virtual_bytes: int
    packages: int
    jars: int
    tree_digest: str | None = None


def read_image(directory: Path) -> Image:
    """Reads the description of the image in a directory. Raises BadInput if there is none."""
    hint = "build one with `vas image build`"
    return read_json(directory / ABOUT, Image, kind="image", hint=hint)


def write_image(directory: Path, image: Image) -> None:
    """Writes image.json, then the check sums of all files. Raises OSError."""
    write_atomically(directory / ABOUT, image.model_dump_json(indent=2) + "\n")
    names = (DISK, KERNEL, INITRD, BILL, ABOUT)
    sums = (f"{digest_of(directory / name)}  {name}\n" for name in names)
    write_atomically(directory / SUMS, "".join(sums))


def check_sums(directory: Path) -> Iterator[tuple[str, bool]]:
    """Yields each file of SHA256SUMS, and whether it still has that check sum.

    Raises BadInput if SHA256SUMS is missing or too long, OSError if a file cannot be read.
    """
    try:
        text = read_limited(directory / SUMS, _MOST_BYTES).decode(errors="replace")
    except FileNotFoundError:
        hint = "build the image with `vas image build`"
        raise BadInput("lacks its check sums", where=str(directory), hint=hint) from None
    for line in text.splitlines():
        digest, _, name = line.partition("  ")
        file = directory / Path(name).name
        yield name, file.is_file() and digest_of(file) == digest


def digest_of(file: Path) -> str:
    """Returns the SHA-256 of a file."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()
