"""Compares a guest's `lfs osts` and `lfs df` with the map. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

from vas_ansible.verify.check import Check, CheckStatus, CommandResult
from vas_cluster import Cluster, Host

_ACTIVE = re.compile(r"^(\d+): \S+ ACTIVE\b", re.MULTILINE)
# UUID, blocks, used, available, use%, mount point with the OST's number.
_WITH_SPACE = re.compile(r"^\S+\s+\d+\s+\d+\s+\d+\s+\S+\s+\S+\[OST:(\d+)\]", re.MULTILINE)


def osts(cluster: Cluster, node: str, said: CommandResult) -> Check:
    """Checks in `lfs osts` that every OST of the map is active."""
    return _all(cluster, node, "OSTs", said, _ACTIVE, "active")


def space(cluster: Cluster, node: str, said: CommandResult) -> Check:
    """Checks in `lfs df` that every OST of the map reports its space."""
    return _all(cluster, node, "lfs df", said, _WITH_SPACE, "in it")


def own_osts(cluster: Cluster, node: str, said: CommandResult) -> Check:
    """Checks in `lfs df` that the guest sees the OSTs of its own server."""
    home = cluster.host_by_guest(node)
    assert home is not None
    gone = set(home.osts) - _indices(_WITH_SPACE, said)
    if gone:
        what = f"{_named(gone)} of its own server {home.name} cannot be seen"
        fix = f"see `lctl ping {home.nids[0]}` on {node}"
        return Check(node, "own OSTs", CheckStatus.FAILED, what, fix)
    return Check(node, "own OSTs", CheckStatus.OK, f"{_named(home.osts)} of {home.name}")


def _all(
    cluster: Cluster, node: str, name: str, said: CommandResult, shown: re.Pattern[str], how: str
) -> Check:
    wanted = {index for host in cluster.hosts for index in host.osts}
    gone = wanted - _indices(shown, said)
    if not gone:
        return Check(node, name, CheckStatus.OK, f"all {len(wanted)} {how}")
    what = f"{_named(gone)} of {', '.join(_hosts(cluster, gone))} are not {how}"
    what = what if said.is_ok else f"{what}: {said.reason}"
    return Check(
        node, name, CheckStatus.FAILED, what, "see `lfs check osts` there, and the servers"
    )


def _indices(shown: re.Pattern[str], said: CommandResult) -> set[int]:
    return {int(index) for index in shown.findall(said.stdout)}


def _hosts(cluster: Cluster, indices: Collection[int]) -> list[str]:
    found: list[Host] = [host for host in cluster.hosts if set(host.osts) & set(indices)]
    return [host.name for host in found]


def _named(indices: Collection[int]) -> str:
    return ", ".join(f"OST{index:04x}" for index in sorted(indices))
