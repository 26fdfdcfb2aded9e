"""The filter `vas_monitoring`: configuration files of Prometheus and Grafana for a site."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCUMENTATION = """
name: vas_monitoring
short_description: Generate the files of Prometheus and Grafana
description: Returns targets, alert rules and the dashboard, derived from the map.
options:
  _input:
    description: Path of the map on the controller.
    type: path
    required: true
  runbooks:
    description: URL of the directory of runbook.md, to which alerts link.
    type: str
    required: true
"""


def vas_monitoring(cluster_file: str, runbooks: str) -> dict[str, str]:
    """Returns file name -> text of each file for Prometheus and Grafana.

    `runbooks` is where alerts link to runbook.md. Raises DocumentProblems for a wrong map.
    """
    from vas_ansible.monitoring import monitoring_files
    from vas_cluster import load_cluster

    return monitoring_files(load_cluster(Path(cluster_file)), str(runbooks))


class FilterModule:
    """The filters of this file, as Ansible looks for them."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Returns name -> function for each filter of this file."""
        return {"vas_monitoring": vas_monitoring}
