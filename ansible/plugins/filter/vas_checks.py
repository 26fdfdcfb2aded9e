"""Filters of the checks: inventory and machine findings, machine warnings, MTUs, users' numbers.

They raise DocumentProblems, which fails the task, for a wrong map.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from ansible.errors import AnsibleError, AnsibleUndefinedVariable
from jinja2 import Undefined, UndefinedError

DOCUMENTATION = """
name: vas_checks
short_description: Check inventory and machines before any change
description: Thin layer over C(vas_ansible.checks); each finding is one line with its fix.
"""


def vas_inventory_findings(
    cluster_file: str,
    hostvars: Mapping[str, Any],
    nodes: list[str],
    roles: str,
    known: list[str],
    playbooks: dict[str, dict[str, Any]],
    removed: dict[str, str],
) -> list[str]:
    """Returns one line for each problem of a site's variables.

    `roles`: directory of the roles; `known`: further names of variables; `playbooks`: variable of
    a playbook -> its specification; `removed`: name of a removed option -> what to do instead.
    """
    from vas_ansible.checks import examine_inventory, examine_required
    from vas_cluster import load_cluster

    by_node = {node: _own(hostvars[node]) for node in nodes}
    cluster, options = load_cluster(Path(cluster_file)), dict(_options(Path(roles)))
    options |= {
        name: {**option, "page": "docs/provisioning.md"} for name, option in playbooks.items()
    }
    found = examine_required(cluster, by_node)
    found += examine_inventory(cluster, by_node, options, known, removed)
    return [finding.line() for finding in found]


def _own(variables: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _known(variables, name) for name in variables if name.startswith("vas_")}


def _known(variables: Mapping[str, Any], name: str) -> Any:
    from vas_ansible.checks import LATER, UnreadableValue

    try:
        return _plain(variables[name])
    except UndefinedError as wrong:
        cause = wrong.__cause__
        if isinstance(cause, AnsibleError) and not isinstance(cause, AnsibleUndefinedVariable):
            return UnreadableValue(_reason(wrong))
        return LATER


def _reason(wrong: Exception) -> str:
    """An error's reason in Ansible's words, without those that Ansible puts around each error."""
    said = str(wrong).removeprefix("A captured exception marker was tripped: ")
    return said.replace(" Use -vvvvv to see paths searched.", "").rstrip(".")


def _plain(value: Any) -> Any:
    """A value without Ansible's lazy lists and dictionaries.

    Raises UndefinedError if a value in it is undefined.
    """
    if isinstance(value, Undefined):
        if trip := getattr(value, "trip", None):
            trip()  # Ansible's: raises the error that it keeps
        raise UndefinedError
    if isinstance(value, Mapping):
        return {str(key): _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else value


def _options(roles: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for file in roles.glob("*/meta/argument_specs.yml"):
        options = yaml.safe_load(file.read_text())["argument_specs"]["main"]["options"]
        page = f"ansible/roles/{file.parents[1].name}/README.md"
        yield from ((name, {**option, "page": page}) for name, option in options.items())


def vas_machine_findings(
    cluster_file: str, node: str, facts: str, settings: dict[str, Any]
) -> list[str]:
    """Returns one line for each problem of a machine. `facts`: result of `vas_facts` as JSON.

    `settings`: see `vas_ansible.checks.machine.examine_machine`.
    """
    found = _examined(cluster_file, node, facts, settings)
    return [finding.line() for finding in found if not finding.warns]


def vas_machine_warnings(
    cluster_file: str, node: str, facts: str, settings: dict[str, Any]
) -> list[str]:
    """Returns one line for each warning about a machine; warnings do not stop the playbook.

    The arguments are those of `vas_machine_findings`.
    """
    found = _examined(cluster_file, node, facts, settings)
    return [finding.line() for finding in found if finding.warns]


def _examined(cluster_file: str, node: str, facts: str, settings: dict[str, Any]) -> list[Any]:
    from vas_ansible.checks import MachineFacts, examine_machine
    from vas_cluster import load_cluster

    read = MachineFacts.model_validate_json(facts)
    cluster = load_cluster(Path(cluster_file))
    return examine_machine(cluster, node, read, {**_plain(settings), "now": time.time()})


def vas_fabric_mtus(
    cluster_file: str, hostvars: Mapping[str, Any], nodes: list[str], registered: str
) -> dict[str, int]:
    """Returns node -> MTU in bytes of its leg on the data fabric, for nodes with facts.

    `registered`: name of the variable that holds the result of `vas_facts`.
    """
    from vas_ansible.checks import MachineFacts, fabric_mtus
    from vas_cluster import load_cluster

    answered = _facts_read(hostvars, nodes, registered)
    known = {node: MachineFacts.model_validate(facts) for node, facts in answered.items()}
    return fabric_mtus(load_cluster(Path(cluster_file)), known)


def vas_user_numbers(
    hostvars: Mapping[str, Any], nodes: list[str], registered: str
) -> dict[str, int]:
    """Returns user -> the number that most of the nodes with facts have for the user.

    The arguments are those of `vas_fabric_mtus`.
    """
    from vas_ansible.checks import usual_numbers

    answered = _facts_read(hostvars, nodes, registered)
    return usual_numbers({node: facts["users"] for node, facts in answered.items()})


def _facts_read(
    hostvars: Mapping[str, Any], nodes: list[str], registered: str
) -> dict[str, dict[str, Any]]:
    """Node -> facts, of those that could be read so far."""
    read = {node: hostvars[node].get(registered, {}) for node in nodes}
    answered = {node: found["vas_facts"] for node, found in read.items() if "vas_facts" in found}
    return {node: _plain(facts) for node, facts in answered.items()}


class FilterModule:
    """The filters of this file, as Ansible looks for them."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Returns name -> function for each filter of this file."""
        return {
            "vas_fabric_mtus": vas_fabric_mtus,
            "vas_inventory_findings": vas_inventory_findings,
            "vas_machine_findings": vas_machine_findings,
            "vas_machine_warnings": vas_machine_warnings,
            "vas_user_numbers": vas_user_numbers,
        }
