"""A box for Vagrant's libvirt provider: a tar of the disk, what it is, and how it boots.

The format is vagrant-libvirt's (https://vagrant-libvirt.github.io/vagrant-libvirt/boxes.html).
"""

from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

from vas_core.errors import BadInput
from vas_image.image import DISK, Image, read_image

_GIB = 1 << 30
# The box's own Vagrantfile: UEFI, as the disk has no other boot loader; no synced folder, which
# would copy the user's clone into every guest.
_VAGRANTFILE = """\
Vagrant.configure("2") do |config|
  config.ssh.username = "vas"
  config.vm.synced_folder ".", "/vagrant", disabled: true
  config.vm.provider :libvirt do |libvirt|
    libvirt.loader = ENV.fetch("VAS_OVMF", "/usr/share/OVMF/OVMF_CODE.fd")
    libvirt.machine_type = "q35"
  end
end
"""


def pack_box(directory: Path, box: Path) -> Image:
    """Writes the box of an image that boots by itself. Raises BadInput for another."""
    image = read_image(directory)
    if not image.boots_by_itself:
        hint = "build it with mkosi: `vas image build --builder mkosi`"
        raise BadInput("has no boot loader", where=str(directory), hint=hint)
    epoch = image.source_date_epoch
    with tarfile.open(box, "w:gz", compresslevel=1) as archive:  # the disk is compressed
        _add(archive, "metadata.json", json.dumps(box_metadata(image)).encode(), epoch)
        _add(archive, "Vagrantfile", _VAGRANTFILE.encode(), epoch)
        archive.add(directory / DISK, "box.img", filter=lambda member: _plain(member, epoch))
    return image


def box_metadata(image: Image) -> dict[str, object]:
    """metadata.json; the virtual size is in GiB."""
    gib = -(-image.virtual_bytes // _GIB)
    return {"provider": "libvirt", "format": "qcow2", "virtual_size": gib}


def _add(archive: tarfile.TarFile, name: str, data: bytes, epoch: int) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(_plain(member, epoch), io.BytesIO(data))


def _plain(member: tarfile.TarInfo, epoch: int) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode, member.mtime = 0o644, epoch
    return member
