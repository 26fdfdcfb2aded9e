"""The filter `vas_configuration`: Hadoop's configuration of a node."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleFilterError

DOCUMENTATION = """
name: vas_configuration
short_description: Generate Hadoop's configuration of a node
description: Derives the configuration files of a node from the map and the site's choices.
options:
  _input:
    description: Path of the map on the controller.
    type: path
    required: true
  node:
    description: Name of the node in the map.
    type: str
    required: true
  choices:
    description: Fields of C(vas_ansible.hadoop.Choices).
    type: dict
"""


def vas_configuration(cluster_file: str, node: str, **choices: Any) -> dict[str, str]:
    """Returns file name -> XML of Hadoop's configuration on `node`.

    `choices` are the fields of `vas_ansible.hadoop.Choices`. Raises AnsibleFilterError if the map
    is wrong or contradicts them.
    """
    from vas_ansible.hadoop import Choices, site_files
    from vas_cluster import load_cluster
    from vas_core.errors import VasError

    properties = {str(k): _text(str(k), v) for k, v in choices.pop("properties", {}).items()}
    try:
        made = Choices(properties=properties, **{k: _plain(v) for k, v in choices.items()})
        return site_files(load_cluster(Path(cluster_file)), node, made)
    except VasError as wrong:
        raise AnsibleFilterError(str(wrong)) from wrong


def _text(key: str, value: Any) -> str:
    """Returns Hadoop's spelling: YAML reads true, yes and on as one value, which is `True` here."""
    if isinstance(value, bool):
        words = ("off", "on") if key == "vas.containers.reuse" else ("false", "true")
        return words[value]
    return str(value)


def _plain(value: Any) -> Any:
    return value if isinstance(value, bool) else str(value)


class FilterModule:
    """The filters of this file, as Ansible looks for them."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Returns name -> function for each filter of this file."""
        return {"vas_configuration": vas_configuration}
