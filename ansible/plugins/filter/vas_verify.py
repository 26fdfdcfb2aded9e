"""The filter `vas_verify_report`: what was seen on a site, judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DOCUMENTATION = """
name: vas_verify
short_description: What was seen on a site, judged
description: Thin over C(vas_ansible.verify).
"""


def vas_verify_report(
    cluster_file: str, hostvars: Mapping[str, Any], nodes: list[str]
) -> dict[str, Any]:
    """The report as C(json) and C(html), and lines of what C(failed) and did not run (C(left))."""
    from vas_ansible.verify import Asked, Verdict, as_html, as_json, examine, lines
    from vas_cluster import load_cluster

    cluster = load_cluster(Path(cluster_file))
    seen = {node: _registered(hostvars[node]) for node in nodes}
    chosen = seen[nodes[0]]["__vas_verify_chosen"]
    asked = Asked(
        locality=float(chosen["locality"]),
        path_share=float(chosen["path_share"]),
        left=dict(chosen["left"]),
    )
    checks = examine(cluster, seen, asked)
    time = datetime.now(UTC).isoformat(timespec="seconds")
    return {
        "json": as_json(cluster.site, time, checks),
        "html": as_html(cluster.site, time, checks),
        "failed": lines(checks, Verdict.FAILED),
        "left": lines(checks, Verdict.NOT_RUN),
    }


def _registered(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: variables[name] for name in variables if name.startswith("__vas_verify_")}


class FilterModule:
    """Returns the filters of this file by the names that playbooks use."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name -> function."""
        return {"vas_verify_report": vas_verify_report}
