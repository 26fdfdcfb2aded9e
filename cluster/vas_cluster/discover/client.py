"""Reads a mounted Lustre client: its file system, and the servers of each OST."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from vas_cluster.mounts import lustre_mounts
from vas_core.errors import BadInput
from vas_core.root import Root

# Lustre has moved the file over the years; it is debugfs' today, which root alone may read.
_IMPORTS = ("sys/kernel/debug/lustre/osc", "proc/fs/lustre/osc", "sys/fs/lustre/osc")
_FAILOVER = re.compile(r"failover_nids:\s*\[([^\]]*)\]")
# A failover pair's NIDs are separated by `:`, those of one server by `,`; IPv6 has `:` too.
_MGS_NID = re.compile(r"(?:^|[:,])(.+?@\w+)(?=[:,]|$)")
# What a client on a storage server is told of the OSTs of its own machine.
LOOPBACK = "0@lo"
_MDT_INSTANCE = re.compile(r"MDT[0-9a-f]{4}")


@dataclass
class SeenServer:
    """A storage server as a client knows it: the NID in use now, and the indices of its OSTs.

    `failover_nids` are the NIDs of servers that may take its OSTs over.
    """

    nid: str
    osts: list[int] = field(default_factory=list)
    failover_nids: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class SeenClient:
    """A mounted Lustre file system: name, mount point, NIDs of the MGS, and flock option."""

    fsname: str
    mount: str
    mgs_nids: tuple[str, ...]
    flock: str
    servers: tuple[SeenServer, ...]


def read_client(root: Root, mount: str | None = None) -> SeenClient:
    """Reads the Lustre client at a mount point; None is the only one that is mounted.

    `failover_nids` stay empty if this user may not read them. Raises BadInput if Lustre is not
    mounted there, or if several mounts fit; OSError if a file of the client cannot be read.
    """
    found = lustre_mounts(root.read("proc/mounts") or "")
    mounted = [m for m in found if mount in (None, str(m.point))]
    if len(mounted) != 1:
        points = ", ".join(str(m.point) for m in mounted) or "none"
        hint = "name the mount point: --mount DIR" if mounted else "mount Lustre on this machine"
        raise BadInput(f"mounts of Lustre: {points}", where=mount, hint=hint)
    (here,) = mounted
    nids, _, name = here.source.rpartition(":/")
    fsname = name.partition("/")[0]
    return SeenClient(
        fsname=fsname,
        mount=str(here.point),
        mgs_nids=tuple(_MGS_NID.findall(nids)),
        flock=here.mode.value,
        servers=tuple(_servers(root, fsname)),
    )


def with_own_nids(client: SeenClient, own: Sequence[str]) -> SeenClient:
    """Returns the client with `0@lo` replaced by this machine's NID.

    `own` are the NIDs of `lctl list_nids`; of several the one is taken that a failover partner
    names, else the first. Without any, `0@lo` stays.
    """
    named = [nid for server in client.servers for nid in server.failover_nids]
    nids = [nid for nid in own if nid != LOOPBACK]
    nid = next((each for each in nids if each in named), nids[0] if nids else LOOPBACK)
    servers = [
        replace(server, nid=nid, failover_nids=[n for n in server.failover_nids if n not in nids])
        if server.nid == LOOPBACK
        else server
        for server in client.servers
    ]
    return replace(client, servers=tuple(servers))


def _servers(root: Root, fsname: str) -> list[SeenServer]:
    name = re.compile(rf"{re.escape(fsname)}-OST([0-9a-f]{{4}})-osc-(\w+)")
    found: dict[str, SeenServer] = {}
    for directory in root.glob(f"sys/fs/lustre/osc/{fsname}-OST*-osc-*"):
        match = name.fullmatch(directory.name)
        if not match or _MDT_INSTANCE.fullmatch(match[2]):
            continue
        nid = root.read(f"sys/fs/lustre/osc/{directory.name}/ost_conn_uuid") or ""
        server = found.setdefault(nid, SeenServer(nid))
        server.osts.append(int(match[1], 16))
        server.failover_nids += [
            other
            for other in _failover_nids(root, directory.name)
            if other != nid and other not in server.failover_nids
        ]
    return sorted(found.values(), key=lambda server: min(server.osts))


def _failover_nids(root: Root, name: str) -> list[str]:
    for directory in _IMPORTS:
        try:
            text = root.read(f"{directory}/{name}/import")
        except PermissionError:
            continue
        if text and (match := _FAILOVER.search(text)):
            return [word.strip().strip('"') for word in match[1].split(",") if word.strip()]
    return []
