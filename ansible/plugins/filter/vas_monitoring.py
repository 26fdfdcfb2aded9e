"""The filter `vas_monitoring`: what Prometheus and Grafana need of a site."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

DOCUMENTATION = """
name: vas_monitoring
short_description: What Prometheus and Grafana need of a site
description: Targets, alert rules and the dashboard, made of the map.
options:
  _input:
    description: The map's file on the controller.
    type: path
    required: true
"""


def vas_monitoring(cluster_file: str) -> dict[str, str]:
    """File name -> text."""
    from vas_ansible.monitoring import monitoring_files
    from vas_cluster import load_cluster

    return monitoring_files(load_cluster(Path(cluster_file)))


class FilterModule:
    """Returns the filters of this file by the names that playbooks use."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name -> function."""
        return {"vas_monitoring": vas_monitoring}
