"""Checks that a site's variables have the types and choices of the roles' options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator

from vas_ansible.checks.finding import CheckFinding

# Of an option's specification, what Ansible judges a value by.
_JUDGED = ("type", "elements", "choices")
# Ansible takes texts and numbers for these too, and leaves them to the roles as they are.
_OF_YAML: Mapping[str, tuple[type, str, str]] = {
    "list": (list, "list", "[{}]"),
    "dict": (Mapping, "dictionary", "{{KEY: VALUE}}"),
}


def examine_options(
    node: str, variables: Mapping[str, Any], options: Mapping[str, Mapping[str, Any]]
) -> Iterator[CheckFinding]:
    """Finds values that a role would refuse when its first task runs."""
    for name in sorted(variables.keys() & options.keys()):
        value, option = variables[name], options[name]
        kind, word, example = _OF_YAML.get(option.get("type", ""), (object, "", ""))
        if not isinstance(value, kind) and value is not None:
            fix = f"write it as YAML, in group_vars: {name}: {example.format(value)}"
            yield CheckFinding(node, name, f"is not a {word}", fix)
            continue
        judged = {key: option[key] for key in _JUDGED if key in option}
        for wrong in ArgumentSpecValidator({name: judged}).validate({name: value}).error_messages:
            what = wrong.replace(f"{name} ", "", 1)
            # Ansible lists the spellings that it takes, in no order.
            if option.get("type") == "bool":
                what = f"{value} is not true or false"
            yield CheckFinding(node, name, what, f"see {option['page']}")
