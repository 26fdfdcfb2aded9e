"""Checks which server has an OST, by this client, before and after a failover by the operator."""

from __future__ import annotations

import os
import time
from pathlib import Path

from vas_accept.checks.layouts import write
from vas_accept.outcome import AcceptanceCheck, Deviation, NotApplicable
from vas_accept.place import AcceptancePlace
from vas_cluster import Cluster
from vas_core.cli import note
from vas_core.errors import VasError
from vas_layout.owners import OstOwners, Source
from vas_layout.requests import stripes
from vas_layout.store import create_with_layout

_POLL_SECONDS = 0.5
_THIS_HOST = "0@lo"
# An import may name a server that does not serve yet (docs/layout.md).
_SETTLE_SECONDS = 60.0


def _owners(place: AcceptancePlace, cluster: Cluster) -> OstOwners:
    def instance() -> str | None:
        try:
            return place.lfs.instance(place.mount)
        except VasError:
            return None

    return OstOwners(cluster, root=place.root, instance=instance, ttl_seconds=0)


def _known(place: AcceptancePlace) -> str:
    cluster = place.cluster
    owners = _owners(place, cluster)
    seen = {ost: owners.owner(ost) for ost in place.osts}
    for ost, owner in seen.items():
        if owner.source is not Source.CLIENT:
            raise Deviation(
                f"the client names the server of OST {ost}, by a NID of the map",
                f"its NID is {_nid(place, ost)}, and the map's hosts have others",
                fix="put all NIDs of each server into the map, by `lctl list_nids` there",
            )
    elsewhere = [ost for ost, it in seen.items() if it.host and ost not in it.host.osts]
    moved = f"; OST {', '.join(map(str, elsewhere))} on the HA partner" if elsewhere else ""
    return f"{len(seen)} OSTs are at servers of the map{moved}"


def _nid(place: AcceptancePlace, ost: int) -> str:
    pattern = f"sys/fs/lustre/osc/{place.fsname}-OST{ost:04x}-osc-{place.instance}/ost_conn_uuid"
    found = {path.read_text().strip() for path in place.root.glob(pattern)}
    return ", ".join(sorted(found)) or "not readable"


def _failover(place: AcceptancePlace) -> str:
    if not place.options.failover:
        raise NotApplicable("the user did not ask for a failover: --failover")
    cluster = place.cluster
    before = {ost: _nid(place, ost) for ost in place.osts}
    directory = place.own("failover")
    files = {ost: _file_on(directory, ost) for ost in place.osts}
    note("now fail one OST over to its HA partner; this waits for the client to see it")
    ost = _moved(place, before, files)
    return _follow(place, cluster, ost, files[ost], before[ost])


def _file_on(directory: Path, ost: int) -> Path:
    path = directory / f"on-ost-{ost}"
    create_with_layout(path, stripes(1 << 20, 1, start=ost))
    write(path, 1 << 20)
    return path


def _moved(place: AcceptancePlace, before: dict[int, str], files: dict[int, Path]) -> int:
    end = time.monotonic() + min(place.options.failover_seconds, place.deadline - time.monotonic())
    while time.monotonic() < end:
        for ost, nid in before.items():
            if _nid(place, ost) not in (nid, "not readable"):
                return ost
            # An idle import learns of nothing; a look wakes it.
            files[ost].stat()
        time.sleep(_POLL_SECONDS)
    place.seconds_left()
    raise NotApplicable("no OST was failed over in the time given")


def _follow(place: AcceptancePlace, cluster: Cluster, ost: int, path: Path, before: str) -> str:
    owners, end = _owners(place, cluster), time.monotonic() + _SETTLE_SECONDS
    while True:
        nid = _nid(place, ost)
        owner = owners.owner(ost)
        # A client on the server itself: which host that is, the owner's own rule finds.
        expected = owner.host if nid == _THIS_HOST else cluster.host_by_nid(nid)
        if expected is not None and owner.host == expected:
            break
        if time.monotonic() > end:
            seen = owner.host.name if owner.host else "nobody"
            raise Deviation(f"OST {ost} is found at the server with {nid}", f"at {seen}")
        time.sleep(_POLL_SECONDS)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.pread(descriptor, 4096, 0)
    finally:
        os.close(descriptor)
    return f"OST {ost} went from {before} to {nid}: found at {expected.name}, and read there"


CHECKS = (
    AcceptanceCheck(
        "owners",
        "The server of each OST, by the client",
        _known,
        "maps are sent by the map's file alone, and to the wrong server after a failover",
        "run `vas cluster check`, compare it with `lctl get_param osc.*.ost_conn_uuid`",
    ),
    AcceptanceCheck(
        "failover",
        "The server of an OST after its failover",
        _failover,
        "after a failover maps read over the network until the OST is back",
        "see that the map's NIDs of the HA partner are complete; send the report",
    ),
)
