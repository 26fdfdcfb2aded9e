"""Lustre's targets on a server of a lab, and whether a disk may become one. Pure.

Sites have their servers; the role lustre_server, which this is for, works in a lab alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vas_cluster import Cluster, Host
from vas_core.errors import BadInput

_DIRECTORY = "/srv/lustre"
_MKFS = "/usr/sbin/mkfs.lustre"


@dataclass(frozen=True)
class Target:
    """An MDT or OST: its name, its disk, how that is formatted, and where it is mounted."""

    name: str
    device: str
    argv: tuple[str, ...]

    @property
    def mount(self) -> str:
        """The directory: what is mounted there is no file system to look into, but a service."""
        return f"{_DIRECTORY}/{self.name}"

    @property
    def unit(self) -> str:
        """systemd's name of the mount; no letter of these paths has another spelling there."""
        return self.mount.strip("/").replace("/", "-") + ".mount"


def targets(cluster: Cluster, node: str, mdt: str) -> list[Target]:
    """The targets of a machine: the MDT, with the MGS, on a disk of that name, and the map's OSTs.

    Raises BadInput for an OST without a disk. mkfs.lustre(8), Lustre 2.16, for the options.
    """
    fsname = cluster.lustre.fsname
    found = []
    if mdt:
        words = (_MKFS, f"--fsname={fsname}", "--mgs", "--mdt", "--index=0", mdt)
        found.append(Target("MDT0000", mdt, words))
    nodes = [f"--mgsnode={nid}" for nid in cluster.lustre.mgs_nids]
    for index, device in _disks(cluster.host(node)):
        argv = (_MKFS, f"--fsname={fsname}", "--ost", f"--index={index}", *nodes, device)
        found.append(Target(f"OST{index:04x}", device, argv))
    return found


def _disks(host: Host | None) -> list[tuple[int, str]]:
    """Each OST's index and disk. Raises BadInput unless the map has a disk for each."""
    if host is None:
        return []
    if len(host.osts) != len(host.storage_devices):
        what = f"has {len(host.osts)} OSTs on {len(host.storage_devices)} disks"
        raise BadInput(what, where=host.name, hint="give the map a storage device for each OST")
    return list(zip(host.osts, host.storage_devices, strict=True))


def refusal(fsname: str, target: Target, signatures: str) -> str | None:
    """Why a disk is not formatted; None if it is empty, or is this target already.

    `signatures`: what `wipefs --no-act --noheadings --output TYPE,LABEL` says of it. A target's
    label is FSNAME-OST0000, with another sign than - until the MGS knows it (Lustre's
    server_make_name).
    """
    lines = [line.split() for line in signatures.splitlines() if line.strip()]
    ours = re.compile(rf"{re.escape(fsname)}[-:=]{target.name}")
    if not lines or (len(lines) == 1 and ours.fullmatch(lines[0][-1])):
        return None
    what = ", ".join(" ".join(words) for words in lines)
    return f"{target.device}: has {what}; wipe it by hand if nobody needs it, or name another disk"
