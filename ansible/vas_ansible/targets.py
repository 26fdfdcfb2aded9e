"""Lists Lustre's targets on a lab's server, and decides whether a disk may become one. Pure.

Only the role lustre_server uses this, in a lab; a site has its own servers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from vas_cluster import Cluster, Host
from vas_core.errors import BadInput
from vas_core.shown import counted

_DIRECTORY = "/srv/lustre"
_MKFS = "/usr/sbin/mkfs.lustre"


@dataclass(frozen=True)
class LustreTarget:
    """An MDT or OST: its name, its disk, and the command that formats the disk."""

    name: str
    device: str
    argv: tuple[str, ...]

    @property
    def mount(self) -> str:
        """The mount point, which starts the target's service and shows no files."""
        return f"{_DIRECTORY}/{self.name}"

    @property
    def unit(self) -> str:
        """The name of the mount's systemd unit; these paths need no escapes."""
        return self.mount.strip("/").replace("/", "-") + ".mount"


def targets(cluster: Cluster, node: str, mdt: str) -> list[LustreTarget]:
    """Returns the targets of a machine: MGS and MDT on the disk `mdt`, and the map's OSTs.

    An empty `mdt` means neither. Raises BadInput for an OST without a disk. Options:
    mkfs.lustre(8), Lustre 2.16.
    """
    fsname = cluster.lustre.fsname
    found = []
    if mdt:
        words = (_MKFS, f"--fsname={fsname}", "--mgs", "--mdt", "--index=0", mdt)
        found.append(LustreTarget("MDT0000", mdt, words))
    nodes = [f"--mgsnode={nid}" for nid in cluster.lustre.mgs_nids]
    for index, device in _disks(cluster.host(node)):
        argv = (_MKFS, f"--fsname={fsname}", "--ost", f"--index={index}", *nodes, device)
        found.append(LustreTarget(f"OST{index:04x}", device, argv))
    return found


def _disks(host: Host | None) -> list[tuple[int, str]]:
    """Index and disk of each OST. Raises BadInput unless the map has a disk for each."""
    if host is None:
        return []
    if len(host.osts) != len(host.storage_devices):
        disks = counted(len(host.storage_devices), "disk")
        what = f"has {counted(len(host.osts), 'OST')} on {disks}"
        raise BadInput(what, where=host.name, hint="give the map a storage device for each OST")
    return list(zip(host.osts, host.storage_devices, strict=True))


def refusal(fsname: str, target: LustreTarget, signatures: str) -> str | None:
    """Returns why a disk must not be formatted; None if it is empty or holds this target.

    `signatures`: output of `wipefs --no-act --noheadings --output TYPE,LABEL` for the disk. A
    target's label is FSNAME-OST0000, with another sign than - until the MGS knows it (Lustre's
    server_make_name).
    """
    lines = [line.split() for line in signatures.splitlines() if line.strip()]
    ours = re.compile(rf"{re.escape(fsname)}[-:=]{target.name}")
    if not lines or (len(lines) == 1 and ours.fullmatch(lines[0][-1])):
        return None
    what = ", ".join(" ".join(words) for words in lines)
    return f"{target.device}: has {what}; wipe it by hand if nobody needs it, or name another disk"
