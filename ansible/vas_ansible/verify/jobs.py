"""Judges the small jobs of `vas bench run --json`: their results and their locality. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vas_ansible.verify.check import Check, CheckStatus, CommandResult

_NEAR, _NOT = "data_local_maps", ("rack_local_maps", "other_maps")
_FIX = (
    "is the guest there a running node with room, and vas.placement.node-wait longer than a map"
    " takes? See docs/placement.md and `vas job locality`"
)


def jobs(node: str, said: CommandResult, least_locality: float) -> Iterator[Check]:
    """Yields a check for each job that ran, and one for the locality of each that read splits.

    `least_locality`: least share of maps that must read from their own server.
    """
    made = (said.json() or {}).get("made", [])
    if not made:
        what = said.reason if not said.is_ok else "no job ran"
        yield Check(node, "jobs", said.verdict if not said.is_ok else CheckStatus.FAILED, what)
        return
    for run in made:
        yield _job(node, run)
    read = [run for run in made if run["hosts"]]
    for run in read:
        yield _locality(node, run, least_locality)
    if not read:
        what = "no job's history says where its maps read"
        fix = "does the JobHistoryServer answer, and the job `terasort` end?"
        yield Check(node, "locality", CheckStatus.FAILED, what, fix)


def _job(node: str, run: Mapping[str, Any]) -> Check:
    if run["invalid"]:
        return Check(
            node, run["workload"], CheckStatus.FAILED, str(run["invalid"]), "see `yarn logs`"
        )
    return Check(
        node, run["workload"], CheckStatus.OK, f"{run['job_seconds']:.1f} s, its output right"
    )


def _locality(node: str, run: Mapping[str, Any], least: float) -> Check:
    hosts: Mapping[str, Mapping[str, int]] = run["hosts"]
    near = sum(host[_NEAR] for host in hosts.values())
    maps = sum(_maps(host) for host in hosts.values())
    share = near / max(1, maps)
    what = f"{run['workload']}: {near} of {maps} maps read from their own server ({share:.1%})"
    name = "locality"
    if share >= least:
        return Check(node, name, CheckStatus.OK, what)
    # If every host has the best locality, the limit itself is wrong: then all hosts are named.
    away = {name: host for name, host in hosts.items() if host[_NEAR] < _maps(host)} or hosts
    each = ", ".join(f"{on} {host[_NEAR]} of {_maps(host)}" for on, host in away.items())
    return Check(node, name, CheckStatus.FAILED, f"{what}, {least:.1%} are required: {each}", _FIX)


def _maps(host: Mapping[str, int]) -> int:
    return host[_NEAR] + sum(host[kind] for kind in _NOT)
