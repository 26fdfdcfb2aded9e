"""Packs a box for Vagrant's libvirt provider: a tar of disk, seed, metadata and Vagrantfile.

Nobody can log in to an image: the box's seed lets the owner of one SSH key in, as `vas`.

The format is vagrant-libvirt's (https://vagrant-libvirt.github.io/vagrant-libvirt/boxes.html).
"""

from __future__ import annotations

import io
import json
import re
import tarfile
import tempfile
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.seed import write_seed
from vas_image.image import DISK, INITRD, KERNEL, Image, read_image

_GIB = 1 << 30
_USER = "vas"
_PUBLIC_KEY = re.compile(r"(ssh|ecdsa|sk)-[\w@.-]+ [A-Za-z0-9+/=]+( [^\n]*)?")
_SEED = "seed.iso"
# The box's own Vagrantfile; no synced folder, which would copy the user's clone into every guest.
# VAS_SSH_KEY is the private half of the seed's key.
_VAGRANTFILE = """\
Vagrant.configure("2") do |config|
  config.ssh.username = "vas"
  config.ssh.insert_key = false
  config.ssh.private_key_path = ENV.fetch("VAS_SSH_KEY", File.expand_path("~/.ssh/id_ed25519"))
  config.vm.synced_folder ".", "/vagrant", disabled: true
  config.vm.provider :libvirt do |libvirt|
{boot}
    libvirt.machine_type = "q35"
    seed = File.expand_path("seed.iso", __dir__)
    libvirt.storage :file, device: :cdrom, bus: :sata, type: "raw", path: seed
  end
end
"""
_UEFI = 'libvirt.loader = ENV.fetch("VAS_OVMF", "/usr/share/OVMF/OVMF_CODE_4M.fd")'


def public_key(text: str) -> str:
    """Returns a public SSH key without blanks around it. Raises BadInput for any other text."""
    key = text.strip()
    if not _PUBLIC_KEY.fullmatch(key):
        hint = "give the file that ends in .pub"
        raise BadInput("is not a public SSH key", where="--key", hint=hint)
    return key


def pack_box(directory: Path, box: Path, key: str) -> Image:
    """Writes the box of the image in `directory`, for the owner of a public SSH key to log in.

    Returns the image's description. Raises BadInput if `key` is not a public key or if there is no
    image, OSError if a file cannot be written.
    """
    key = public_key(key)
    image = read_image(directory)
    epoch = image.source_date_epoch
    with tarfile.open(box, "w:gz", compresslevel=1) as archive:  # the disk is compressed
        _add(archive, "metadata.json", json.dumps(box_metadata(image)).encode(), epoch)
        _add(archive, "Vagrantfile", box_vagrantfile(image).encode(), epoch)
        with tempfile.TemporaryDirectory(prefix="vas-box-") as work:
            write_seed(Path(work, _SEED), box_seed(key))
            _add(archive, _SEED, Path(work, _SEED).read_bytes(), epoch)
        files = {} if image.boots_by_itself else {KERNEL: KERNEL, INITRD: INITRD}
        for name, inside in (files | {DISK: "box.img"}).items():
            archive.add(directory / name, inside, filter=lambda member: _plain(member, epoch))
    return image


def box_vagrantfile(image: Image) -> str:
    """Returns the box's Vagrantfile: it boots by UEFI, or the kernel next to the disk."""
    return _VAGRANTFILE.replace("{boot}", "\n".join(f"    {line}" for line in _boot(image)))


def _boot(image: Image) -> list[str]:
    if image.boots_by_itself:
        return [_UEFI]
    return [
        f'libvirt.kernel = File.expand_path("{KERNEL}", __dir__)',
        f'libvirt.initrd = File.expand_path("{INITRD}", __dir__)',
        f"libvirt.cmd_line = {json.dumps(f'root={image.root} {image.kernel_command_line}')}",
    ]


def box_metadata(image: Image) -> dict[str, object]:
    """Returns the content of metadata.json; the virtual size is in GiB."""
    gib = -(-image.virtual_bytes // _GIB)
    return {"provider": "libvirt", "format": "qcow2", "virtual_size": gib}


def box_seed(key: str) -> dict[str, str]:
    """Returns the seed's files: one user, by a key.

    Without `network-config` cloud-init lets the first NIC use DHCP, which is Vagrant's own; Vagrant
    sets the others up. (A match by a pattern of names would be no way: cloud-init takes the entry's
    key for the interface's name unless a MAC address is given, and configures none.)
    """
    user = {
        "name": _USER,
        "lock_passwd": True,
        "shell": "/bin/bash",
        "sudo": "ALL=(ALL) NOPASSWD:ALL",
        "ssh_authorized_keys": [key],
    }
    return {
        "meta-data": json.dumps({"instance-id": "vas-box"}) + "\n",
        "user-data": "#cloud-config\n" + json.dumps({"users": [user]}) + "\n",
    }


def _add(archive: tarfile.TarFile, name: str, data: bytes, epoch: int) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(data)
    archive.addfile(_plain(member, epoch), io.BytesIO(data))


def _plain(member: tarfile.TarInfo, epoch: int) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mode, member.mtime = 0o644, epoch
    return member
