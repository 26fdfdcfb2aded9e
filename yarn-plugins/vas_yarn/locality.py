"""Where each map of a job ran, where its stripe lay, and why the two differ if they do. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from vas_cluster import Cluster
from vas_layout.locate import Placement, main_owner
from vas_yarn.history import MapAttempt, Split
from vas_yarn.placement_log import Decision


class Where(StrEnum):
    """How near to its data a map ran."""

    LOCAL = "local"
    PARTNER = "partner"
    REMOTE = "remote"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class MapLocality:
    """One map: its split, the VM that owns more than half of it, and where it ran."""

    task: str
    path: str | None
    offset: int | None
    length: int | None
    local_bytes: int
    ost: int | None
    oss: str | None
    vm: str | None
    ran_on: str
    where: Where
    why: str

    def as_json(self) -> dict[str, object]:
        """The row as `vas job locality --json` prints it."""
        return asdict(self)


def judge(
    attempt: MapAttempt,
    split: Split | None,
    placements: Sequence[Placement],
    cluster: Cluster,
    decisions: Iterable[Decision],
) -> MapLocality:
    """Joins what is known of one map. `placements` are the owners of its split, in order.

    MapReduce asks for the hosts of the split's block, and a block has one only where one VM owns
    more than half of it; so that VM is the one judged by. `local_bytes` counts the whole split.
    """
    owner = main_owner(placements) if placements else None
    vm = owner.vm if owner else None
    where = _where(attempt.node, vm, cluster)
    return MapLocality(
        task=attempt.task_id,
        path=split.path if split else None,
        offset=split.offset if split else None,
        length=split.length if split else None,
        local_bytes=sum(p.length for p in placements if p.vm == attempt.node),
        ost=owner.ost if owner else None,
        oss=owner.oss if owner else None,
        vm=vm,
        ran_on=attempt.node,
        where=where,
        why=_why(where, vm, split, owner, decisions, attempt.container_id),
    )


def _where(node: str, vm: str | None, cluster: Cluster) -> Where:
    if vm is None:
        return Where.UNKNOWN
    if node == vm:
        return Where.LOCAL
    host, owner = cluster.host_by_guest(node), cluster.host_by_guest(vm)
    paired = host and owner and owner.ha_partner == host.name
    return Where.PARTNER if paired else Where.REMOTE


def _why(
    where: Where,
    vm: str | None,
    split: Split | None,
    owner: Placement | None,
    decisions: Iterable[Decision],
    container: str,
) -> str:
    if where is Where.LOCAL:
        return ""
    if split is None:
        return "the map's split is not known: its log is not there, or it read no file"
    if vm is None:
        return (owner.reason if owner else None) or "the split's layout could not be read"
    mine = list(decisions)
    granted = [d for d in mine if d.container == container and d.cause not in ("", "none")]
    relaxed = [d for d in mine if d.host == vm and d.event.startswith("relaxed")]
    if not granted and not relaxed:
        return "no decision was logged: the placement plugin was off for this job"
    last = (granted or relaxed)[-1]
    scope = "any" if last.locality == "remote" or last.event.endswith("any") else "partner"
    waited = f" after {last.waited_ms / 1000:.1f} s" if last.waited_ms else ""
    return f"{last.host}: {last.cause or 'waited too long'}; relaxed to {scope}{waited}"
