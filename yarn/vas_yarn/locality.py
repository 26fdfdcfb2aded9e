"""Decides whether each map of a job ran where its stripe lay, and why not. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum

from vas_cluster import Cluster
from vas_layout.locate import OwnedSpan
from vas_yarn.history import MapAttempt, Split
from vas_yarn.placement_log import PlacementDecision


class Where(StrEnum):
    """The place of a map: on its split's VM, on that of the failover partner, or elsewhere."""

    LOCAL = "local"
    PARTNER = "partner"
    REMOTE = "remote"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class MapLocality:
    """The locality of a map: its split, the VM that it was asked for, and where it ran."""

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
        """Returns the row as `vas job locality --json` prints it."""
        return asdict(self)


def judge(
    attempt: MapAttempt,
    split: Split | None,
    owned_spans: Sequence[OwnedSpan],
    block: OwnedSpan | None,
    cluster: Cluster,
    decisions: Iterable[PlacementDecision] | None,
    *,
    warm: bool = False,
) -> MapLocality:
    """Joins the facts about one map. `owned_spans` are the owned spans of its split, in order.

    `decisions` are those of its application, None where no log was read. `warm`: its container
    had run another map before, for which YARN had placed it (docs/warm.md).

    MapReduce asks for the host of the `block` that holds the split's start, however many blocks
    the split has; so the block's VM is the one judged by. `local_bytes` counts the whole split.
    """
    vm = block.vm if block else None
    where = _where(attempt.node, vm, cluster)
    return MapLocality(
        task=attempt.task_id,
        path=split.path if split else None,
        offset=split.offset if split else None,
        length=split.length if split else None,
        local_bytes=sum(p.length for p in owned_spans if p.vm == attempt.node),
        ost=block.ost if block else None,
        oss=block.oss if block else None,
        vm=vm,
        ran_on=attempt.node,
        where=where,
        why=_warm(attempt.node)
        if warm and where in (Where.PARTNER, Where.REMOTE)
        else _why(where, vm, split, block, decisions, attempt.container_id),
    )


def _warm(node: str) -> str:
    return f"a container that waited on {node} took it, as no map that has its data there was left"


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
    block: OwnedSpan | None,
    decisions: Iterable[PlacementDecision] | None,
    container: str,
) -> str:
    if where is Where.LOCAL:
        return ""
    if split is None:
        return "the map's split is not known: its log is not there, or it read no file"
    if vm is None:
        return (block.reason if block else None) or "the split's layout could not be read"
    if decisions is None:
        return "no placement log was read"
    known = list(decisions)
    if not known:
        return "the placement log that was read has no decision about this job"
    decided = _decided(where, vm, container, known)
    if decided is None:
        return "the placement log that was read has no decision about this map"
    if decided.cause in ("", "none"):
        return f"MapReduce gave it a container on {decided.node} that was granted for another map"
    scope = "any" if decided.locality == "remote" or decided.event.endswith("any") else "partner"
    waited = f" after {decided.waited_ms / 1000:.1f} s" if decided.waited_ms else ""
    return f"{decided.host}: {decided.cause}; relaxed to {scope}{waited}"


def _decided(
    where: Where, vm: str, container: str, decisions: list[PlacementDecision]
) -> PlacementDecision | None:
    """Returns what let a map of `vm` run elsewhere, in this container.

    MapReduce gives a container to whichever map it likes best, so the grant names the host that
    opened the row, which need not be the map's. If the map's own host was open by then for asks
    of the grant's key, that is the reason; else it is the grant's; without a grant in the log, the
    host's last relaxation.
    """
    of_host = [i for i, d in enumerate(decisions) if d.host == vm and not d.container]
    granted = next((i for i, d in enumerate(decisions) if d.container == container), None)
    if granted is None:
        relaxed = [decisions[i] for i in of_host if decisions[i].event.startswith("relaxed")]
        return relaxed[-1] if relaxed else None
    grant = decisions[granted]
    before = (decisions[i] for i in reversed(of_host) if i < granted)
    stage = next((d for d in before if d.key == grant.key), None)
    is_open = stage and (
        stage.event == "relaxed-any"
        or (stage.event == "relaxed-partner" and where is Where.PARTNER)
    )
    return stage if is_open else grant
