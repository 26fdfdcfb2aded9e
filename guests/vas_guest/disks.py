"""Makes a guest's disks on its host. Never writes to an existing disk, whatever is on it."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from vas_cluster import Guest, Host
from vas_cluster.model import Disk
from vas_core.errors import BadInput
from vas_core.files import fsync_directory, make_directories
from vas_core.process import run
from vas_core.sizes import parse_size


def refuse_osts(host: Host, guest: Guest) -> None:
    """Raises BadInput for a disk that is, by a link, a device under an OST of its host.

    The map's own rules refuse a disk that has the name of such a device.
    """
    devices = {os.path.realpath(device): device for device in host.storage_devices}
    for disk in guest.disks:
        if device := devices.get(os.path.realpath(disk.path)):
            hint = "name another disk in the map: a guest writes to its disks"
            raise BadInput(f"is {device}, which an OST is on", where=disk.path, hint=hint)


def refuse_others(guest: Guest, others: Mapping[str, Collection[str]]) -> None:
    """Raises BadInput for a disk that is, by any name, a disk of another virtual machine.

    `others` is machine -> files and devices of its disks. It includes machines that are shut off:
    only libvirt knows then that their disks are in use.
    """
    owners = {
        identity: name
        for name, paths in others.items()
        for path in paths
        for identity in _identities(path)
    }
    for disk in guest.disks:
        if owner := next((owners[one] for one in _identities(disk.path) if one in owners), None):
            hint = "name another disk in the map: a guest writes to its disks; if that machine is"
            hint += f" not needed any more, `virsh undefine {owner}` (its disks stay)"
            raise BadInput(f"is a disk of {owner}, another machine", where=disk.path, hint=hint)


def bases(path: str, form: str) -> Iterator[str]:
    """Yields the base files of a disk of that format, by their headers.

    Yields none if qemu-img cannot read the disk. libvirt does not list the bases of a machine
    that is shut off. No format is guessed: a machine can write anything to the start of a raw
    disk. Raises NotHere without qemu-img.
    """
    under: str | None = path
    seen = set()
    while under and form != "raw" and under not in seen:
        seen.add(under)
        words = ["qemu-img", "info", "--force-share", "-f", form, "--output=json", under]
        shown = run(words, check=False)
        about = json.loads(shown.stdout) if shown.status == 0 else {}
        under = about.get("full-backing-filename")
        form = about.get("backing-filename-format", "raw")
        if under:
            yield under


def _identities(path: str) -> Iterator[object]:
    """Yields identities of a file or device: its name without links, inode, device number."""
    yield os.path.realpath(path)
    try:
        found = Path(path).stat()
    except OSError:
        return
    yield (found.st_dev, found.st_ino)
    if stat.S_ISBLK(found.st_mode):
        yield found.st_rdev


def lacking(guest: Guest) -> list[Disk]:
    """Returns the disks of a guest that do not exist."""
    return [disk for disk in guest.disks if not Path(disk.path).exists()]


def make(guest: Guest, image: Path | None) -> Iterator[Disk]:
    """Makes the disks that do not exist, and yields each: the first from the image, others empty.

    Raises BadInput for the first disk without an image, and for a device that does not exist;
    CommandFailed if qemu-img fails, NotHere without it; FileExistsError for a disk that another
    process made meanwhile.
    """
    for disk in lacking(guest):
        if disk.path.startswith("/dev/"):
            hint = "make the logical volume, and write the image to it"
            raise BadInput("is not there", where=disk.path, hint=hint)
        _make(disk, _commands(guest, disk, image))
        yield disk


def _commands(guest: Guest, disk: Disk, image: Path | None) -> list[Sequence[str | Path]]:
    """Returns the commands that make a disk; `{file}` stands for its file."""
    form = "qcow2" if disk.path.endswith(".qcow2") else "raw"
    size = str(parse_size(disk.size))
    if disk != guest.disks[0]:
        return [["qemu-img", "create", "-q", "-f", form, "{file}", size]]
    if image is None:
        hint = "give the image: --image FILE (`vas image build` makes one)"
        raise BadInput("its first disk is not there", where=guest.name, hint=hint)
    if not image.is_file():
        raise BadInput("no such image", where=str(image), hint="name vas-guest.qcow2")
    return [
        ["qemu-img", "convert", "-O", form, image, "{file}"],
        ["qemu-img", "resize", "-q", "-f", form, "{file}", size],
    ]


def _make(disk: Disk, commands: Sequence[Sequence[str | Path]]) -> None:
    """Makes the disk under another name first, so that an interruption leaves no broken disk.

    The name is in a directory of its own that nobody can foresee: qemu-img follows links.
    """
    place = Path(disk.path)
    make_directories(place.parent, mode=0o711)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=f".{place.name}.") as work:
        new = Path(work, place.name)
        for words in commands:
            run([new if word == "{file}" else word for word in words])
        new.chmod(0o600)
        os.link(new, place)  # fails where a disk has come meanwhile
    fsync_directory(place.parent)
