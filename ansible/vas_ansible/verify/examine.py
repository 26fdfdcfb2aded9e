"""Turns the results that the role `verify` registered on each node into checks. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from vas_ansible.verify import lustre, stops
from vas_ansible.verify.check import Check, CheckStatus, CommandResult
from vas_ansible.verify.jobs import jobs
from vas_ansible.verify.paths import paths
from vas_cluster import Cluster

Registered = Mapping[str, Any]
_FIXES = {
    "routes": "see `vas route doctor` there",
    "placement": "see `vas affinity verify` there, and `journalctl -u vas-affinityd`",
    "LNet": "see `lctl list_nids` there, and the MGS",
    "disk": "see docs/provisioning.md for what it needs",
}
_LUSTRE: dict[str, Callable[[Cluster, str, CommandResult], Check]] = {
    "OSTs": lustre.osts,
    "lfs df": lustre.space,
    "own OSTs": lustre.own_osts,
}


@dataclass(frozen=True, kw_only=True)
class VerifyLimits:
    """Limits that a site must meet, and checks that it leaves out.

    `locality`: least share of maps that read locally; `path_share`: least share of the faster
    path's speed; `left`: check that is left out -> why.
    """

    locality: float = 0.98
    path_share: float = 0.8
    left: Mapping[str, str] = field(default_factory=dict)


def examine(cluster: Cluster, seen: Mapping[str, Registered], asked: VerifyLimits) -> list[Check]:
    """Returns the checks of all nodes, after those that were left out.

    `seen`: node -> the variables `__vas_verify_*` that the role registered there.
    """
    # Evacuated guests are not among the nodes.
    guests = [guest.name for guest in cluster.guests() if guest.name in seen]
    left = [Check("site", name, CheckStatus.NOT_RUN, why) for name, why in asked.left.items()]
    listed = [
        found["__vas_verify_applications"]
        for found in seen.values()
        if not found.get("__vas_verify_applications", {"skipped": True}).get("skipped")
    ]
    jobs = listed[0] if listed else {}
    return left + [
        check
        for node, found in seen.items()
        for check in _of_node(cluster, node, found, asked, guests, jobs)
    ]


def _of_node(
    cluster: Cluster,
    node: str,
    found: Registered,
    asked: VerifyLimits,
    wanted: Collection[str],
    applications: Registered,
) -> Iterator[Check]:
    looked = found.get("__vas_verify_looked")
    if not looked or looked.get("unreachable"):
        what = "could not be reached, so nothing is known about this node"
        yield Check(node, "reached", CheckStatus.FAILED, what, "see Ansible's message above")
        return
    for each in looked.get("results", []):
        if each["item"]["check"] == stops.NAME:
            yield from stops.unclean_stops(node, CommandResult.of(each), applications)
        else:
            yield _look(cluster, node, each)
    yield from _measured(node, found, asked)
    history = found.get("__vas_verify_history", {"skipped": True})
    if not history.get("skipped"):
        yield _history(node, history)
    nodes = found.get("__vas_verify_nodes", {"skipped": True})
    if not nodes.get("skipped"):
        yield from _nodes(node, [cluster.name_of(name) for name in _running(nodes)], wanted, nodes)


def _look(cluster: Cluster, node: str, registered: Registered) -> Check:
    name, said = registered["item"]["check"], CommandResult.of(registered)
    if said.status is None:
        return _not_run(node, name, registered)
    if name in _LUSTRE:
        return _LUSTRE[name](cluster, node, said)
    what = "as it must be" if said.is_ok else said.reason
    return Check(node, name, said.verdict, what, "" if said.is_ok else _FIXES[name])


def _measured(node: str, found: Registered, asked: VerifyLimits) -> Iterator[Check]:
    """Checks of measurements and jobs that were not skipped."""
    by_name: dict[str, Callable[[CommandResult], Iterable[Check]]] = {
        "paths": lambda said: paths(node, said, asked.path_share),
        "disk": lambda said: [_disk(node, said)],
        "jobs": lambda said: jobs(node, said, asked.locality),
    }
    for name, judge in by_name.items():
        registered = found.get(f"__vas_verify_{name}")
        if registered is None or registered.get("skipped"):
            continue
        said = CommandResult.of(registered)
        yield from judge(said) if said.status is not None else [_not_run(node, name, registered)]


def _not_run(node: str, name: str, registered: Registered) -> Check:
    if not registered.get("skipped"):
        what = CommandResult.of(registered).reason
        return Check(node, name, CheckStatus.FAILED, what, _FIXES.get(name, ""))
    return Check(node, name, CheckStatus.NOT_RUN, registered["item"]["reason"])


def _disk(node: str, said: CommandResult) -> Check:
    found = said.json()
    if not said.is_ok or not found:
        return Check(node, "disk", said.verdict, said.reason, _FIXES["disk"])
    speeds = (f"{kind} {found[f'{kind}_mb_per_second']:.0f} MB/s" for kind in ("write", "read"))
    what = f"{', '.join(speeds)}, {found['size']} in {found['directory']} by {found['program']}"
    return Check(node, "disk", CheckStatus.OK, what)


def _history(node: str, registered: Registered) -> Check:
    """Whether the JobHistoryServer could read the files of the user's AMs."""
    listed = ((registered.get("json") or {}).get("jobs") or {}).get("job") or []
    listed = [listed] if isinstance(listed, Mapping) else listed
    ended = [job for job in listed if job.get("state") == "SUCCEEDED"]
    if ended:
        what = f"{len(ended)} jobs of {ended[0].get('user', '')} that ended well"
        return Check(node, "history", CheckStatus.OK, what)
    what = "the JobHistoryServer has no job of the user that ran them"
    fix = (
        "yarn/staging/history/done_intermediate must be 3777 mapred:hadoop, the user's below it"
        " 2770 USER:hadoop (site.yml); see `journalctl -u vas-jobhistory`"
    )
    return Check(node, "history", CheckStatus.FAILED, what, fix)


def _running(registered: Registered) -> list[str]:
    listed = ((registered.get("json") or {}).get("nodes") or {}).get("node") or []
    return [str(each["nodeHostName"]) for each in listed]


def _nodes(
    node: str, running: Collection[str], wanted: Collection[str], registered: Registered
) -> Iterator[Check]:
    """Whether all guests run, except evacuated ones."""
    name, gone = "YARN's nodes", sorted(set(wanted) - set(running))
    if not registered.get("json"):
        what = f"the ResourceManager does not answer: {CommandResult.of(registered).reason}"
        fix = "see `journalctl -u vas-resourcemanager` there"
        yield Check(node, name, CheckStatus.FAILED, what, fix)
    elif gone:
        what = f"{', '.join(gone)} are not running nodes"
        fix = "see `journalctl -u vas-nodemanager` there"
        yield Check(node, name, CheckStatus.FAILED, what, fix)
    else:
        yield Check(node, name, CheckStatus.OK, f"all {len(wanted)} guests run")
