"""The filters `vas_targets` and `vas_target_refusals`: Lustre's targets on a lab's server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCUMENTATION = """
name: vas_targets
short_description: Lustre's targets on a lab's server
description: Thin over C(vas_ansible.targets).
options:
  _input:
    description: The map's file on the controller.
    type: path
    required: true
  node:
    description: The machine's name.
    type: str
    required: true
  mdt:
    description: The disk for MGS and MDT; empty where there is none.
    type: str
    required: true
"""


def vas_targets(cluster_file: str, node: str, mdt: str) -> list[dict[str, Any]]:
    """Each target's name, device, mount, unit and the command that formats it."""
    from vas_ansible.targets import targets
    from vas_cluster import load_cluster

    return [
        {"name": t.name, "device": t.device, "mount": t.mount, "unit": t.unit, "argv": list(t.argv)}
        for t in targets(load_cluster(Path(cluster_file)), node, mdt)
    ]


def vas_target_refusals(cluster_file: str, node: str, mdt: str, signatures: list[str]) -> list[str]:
    """A line for each disk that has something on it. `signatures`: wipefs' text of each."""
    from vas_ansible.targets import refusal, targets
    from vas_cluster import load_cluster

    cluster = load_cluster(Path(cluster_file))
    pairs = zip(targets(cluster, node, mdt), signatures, strict=True)
    found = (refusal(cluster.lustre.fsname, target, text) for target, text in pairs)
    return [line for line in found if line]


class FilterModule:
    """Returns the filters of this file by the names that playbooks use."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name -> function."""
        return {"vas_targets": vas_targets, "vas_target_refusals": vas_target_refusals}
