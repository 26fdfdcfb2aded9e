"""Judges the six paths of `vas route calibrate --json`, and which of them a guest takes. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from vas_ansible.verify.check import Check, CheckStatus, CommandResult

_FIX = "see `vas route calibrate` on {node}, which writes what it finds by --output"
_DIFFERENT = 3


def paths(node: str, said: CommandResult, least_share: float) -> Iterator[Check]:
    """Yields a check for each destination, which compares the guest's path with the faster one.

    `least_share`: least share of the faster path's speed.
    """
    found = said.json() if said.status in (0, _DIFFERENT) else None
    if not found:
        yield Check(node, "paths", _verdict(said), said.reason, _hint(said, node))
        return
    for choice in found["choices"]:
        of = [row for row in found["cases"] if row["destination"] == choice["destination"]]
        yield _path(node, choice["path"], of, least_share)


def _path(node: str, taken: str, rows: list[dict[str, object]], least_share: float) -> Check:
    speeds = {str(row["interface"]): float(str(row["gbps"])) for row in rows}
    share = speeds[taken] / max(speeds.values())
    shown = ", ".join(f"{leg} {gbps:.2f} Gbit/s" for leg, gbps in speeds.items())
    what = f"{rows[0]['case']} {rows[0]['destination']}: {shown}; goes by {taken}"
    if share >= least_share:
        return Check(node, "paths", CheckStatus.OK, what)
    what = f"{what}, {share:.2f} of the faster one, {least_share:g} are required"
    return Check(node, "paths", CheckStatus.FAILED, what, _FIX.format(node=node))


def _verdict(said: CommandResult) -> CheckStatus:
    return CheckStatus.FAILED if said.is_ok else said.verdict


def _hint(said: CommandResult, node: str) -> str:
    if said.verdict is CheckStatus.NOT_RUN:
        return "install the package iperf3 on storage servers and guests"
    return _FIX.format(node=node)
