"""The filter `vas_verify_report`: judges the observations of a site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DOCUMENTATION = """
name: vas_verify
short_description: Judge the observations of a site
description: Thin layer over C(vas_ansible.verify).
"""


def vas_verify_report(
    cluster_file: str, hostvars: Mapping[str, Any], nodes: list[str]
) -> dict[str, Any]:
    """Returns the report as `json` and as `html`, with the lines of checks that `failed`.

    `left` holds the lines of checks that did not run. `nodes`: machines of the site, in the
    report's order. Raises DocumentProblems for a wrong map.
    """
    from vas_ansible.verify import CheckStatus, VerifyLimits, as_html, as_json, examine, lines
    from vas_cluster import load_cluster

    cluster = load_cluster(Path(cluster_file))
    seen = {node: _registered(hostvars[node]) for node in nodes}
    chosen = seen[nodes[0]]["__vas_verify_chosen"]
    asked = VerifyLimits(
        locality=float(chosen["locality"]),
        path_share=float(chosen["path_share"]),
        left=dict(chosen["left"]),
    )
    checks = examine(cluster, seen, asked)
    time = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "json": as_json(cluster.site, time, checks),
        "html": as_html(cluster.site, time, checks),
        "failed": lines(checks, CheckStatus.FAILED),
        "left": lines(checks, CheckStatus.NOT_RUN),
    }


def _registered(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: variables[name] for name in variables if name.startswith("__vas_verify_")}


class FilterModule:
    """The filters of this file, as Ansible looks for them."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Returns name -> function for each filter of this file."""
        return {"vas_verify_report": vas_verify_report}
