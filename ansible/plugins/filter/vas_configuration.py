"""The filter `vas_configuration`: Hadoop's configuration of a node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleFilterError

DOCUMENTATION = """
name: vas_configuration
short_description: Hadoop's configuration of a node
description: The files of a node's Hadoop, made of the map and of what the site chose.
options:
  _input:
    description: The map's file on the controller.
    type: path
    required: true
  node:
    description: The node's name in the map.
    type: str
    required: true
  choices:
    description: As C(vas_ansible.hadoop.Choices) has them.
    type: dict
"""


def vas_configuration(cluster_file: str, node: str, **choices: Any) -> dict[str, str]:
    """File name -> XML. Raises AnsibleFilterError for what cannot be."""
    from vas_ansible.hadoop import Choices, site_files
    from vas_cluster import load_cluster
    from vas_core.errors import VasError

    properties = {str(k): str(v) for k, v in choices.pop("properties", {}).items()}
    try:
        made = Choices(properties=properties, **{k: _plain(v) for k, v in choices.items()})
        return site_files(load_cluster(Path(cluster_file)), node, made)
    except VasError as wrong:
        raise AnsibleFilterError(str(wrong)) from wrong


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool) else str(value)


class FilterModule:
    """Returns the filters of this file by the names that playbooks use."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name -> function."""
        return {"vas_configuration": vas_configuration}
