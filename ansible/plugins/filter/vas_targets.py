"""The filters `vas_targets` and `vas_target_refusals`: Lustre's targets on a lab's server."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCUMENTATION = """
name: vas_targets
short_description: List Lustre's targets on a lab's server
description: Thin layer over C(vas_ansible.targets).
options:
  _input:
    description: Path of the map on the controller.
    type: path
    required: true
  node:
    description: Name of the machine.
    type: str
    required: true
  mdt:
    description: Disk for MGS and MDT; empty on a machine without them.
    type: str
    required: true
"""


def vas_targets(cluster_file: str, node: str, mdt: str) -> list[dict[str, Any]]:
    """Returns the name, device, mount, unit and format command of each target of `node`.

    `mdt`: disk of MGS and MDT, or empty. Raises BadInput for a wrong map or an OST without a disk.
    """
    from vas_ansible.targets import targets
    from vas_cluster import load_cluster

    return [
        {"name": t.name, "device": t.device, "mount": t.mount, "unit": t.unit, "argv": list(t.argv)}
        for t in targets(load_cluster(Path(cluster_file)), node, mdt)
    ]


def vas_target_refusals(cluster_file: str, node: str, mdt: str, signatures: list[str]) -> list[str]:
    """Returns one line for each disk that must not be formatted.

    `signatures`: output of wipefs for each target, in the order of `vas_targets`. Raises as it
    does.
    """
    from vas_ansible.targets import refusal, targets
    from vas_cluster import load_cluster

    cluster = load_cluster(Path(cluster_file))
    pairs = zip(targets(cluster, node, mdt), signatures, strict=True)
    found = (refusal(cluster.lustre.fsname, target, text) for target, text in pairs)
    return [line for line in found if line]


class FilterModule:
    """The filters of this file, as Ansible looks for them."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Returns name -> function for each filter of this file."""
        return {"vas_targets": vas_targets, "vas_target_refusals": vas_target_refusals}
