"""A guest's disks on its host. One that is there is never written to, whatever is on it."""

from __future__ import annotations

import json
import os
import stat
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

    What is one by its name the map's own rules refuse.
    """
    devices = {os.path.realpath(device): device for device in host.storage_devices}
    for disk in guest.disks:
        if device := devices.get(os.path.realpath(disk.path)):
            hint = "name another disk in the map: a guest writes to its disks"
            raise BadInput(f"is {device}, which an OST is on", where=disk.path, hint=hint)


def refuse_others(guest: Guest, others: Mapping[str, Collection[str]]) -> None:
    """Raises BadInput for a disk that is, by whichever name, one of another virtual machine.

    `others` are their names, and the files and devices of their disks: what is shut off too, as
    nothing but libvirt knows then that a disk is somebody's.
    """
    owners = {
        identity: name
        for name, paths in others.items()
        for path in paths
        for identity in _identities(path)
    }
    for disk in guest.disks:
        if owner := next((owners[one] for one in _identities(disk.path) if one in owners), None):
            hint = "name another disk in the map: a guest writes to its disks; is that machine of"
            hint += f" no use any more, `virsh undefine {owner}` (its disks stay)"
            raise BadInput(f"is a disk of {owner}, another machine", where=disk.path, hint=hint)


def bases(path: str, form: str) -> Iterator[str]:
    """The files under a disk of that format, by their headers; none for what qemu-img cannot read.

    Of a machine that is shut off libvirt does not say them. No format is guessed: a raw disk's
    first bytes are its machine's to write.
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
    """By which a file or device is known: its name without links, and what the name stands for."""
    yield os.path.realpath(path)
    try:
        found = Path(path).stat()
    except OSError:
        return
    yield (found.st_dev, found.st_ino)
    if stat.S_ISBLK(found.st_mode):
        yield found.st_rdev


def lacking(guest: Guest) -> list[Disk]:
    """Those that are not there."""
    return [disk for disk in guest.disks if not Path(disk.path).exists()]


def make(guest: Guest, image: Path | None) -> Iterator[Disk]:
    """Makes those that are not there, and names each: the first from the image, others empty.

    Raises BadInput for the first disk without an image, and for a device that is not there.
    """
    for disk in lacking(guest):
        if disk.path.startswith("/dev/"):
            hint = "make the logical volume, and write the image to it"
            raise BadInput("is not there", where=disk.path, hint=hint)
        _make(disk, _commands(guest, disk, image))
        yield disk


def _commands(guest: Guest, disk: Disk, image: Path | None) -> list[Sequence[str | Path]]:
    """What makes a disk, but for the file's name at each one's end."""
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
    """Under another name first: what was interrupted is no disk."""
    place = Path(disk.path)
    make_directories(place.parent, mode=0o711)
    new = place.with_name(f".{place.name}.new")
    try:
        for words in commands:
            run([new if word == "{file}" else word for word in words])
        new.chmod(0o600)
        os.link(new, place)  # fails where a disk has come meanwhile
    finally:
        new.unlink(missing_ok=True)
    fsync_directory(place.parent)
