#!/usr/bin/python
"""The Ansible module `vas_route`: calls `vas route` on a node."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vas.site.plugins.module_utils.vas import (
    DIFFERENT,
    DONE,
    PROGRAM,
    ask,
    is_there,
    options,
)

DOCUMENTATION = """
module: vas_route
short_description: Apply, verify or roll back a node's routes
description:
  - Applies the routes that C(vas route) plans for a node, compares them with the kernel's, or rolls
    them back.
options:
  state:
    description:
      - C(present) applies, C(verified) compares and fails where the kernel differs,
        C(absent) rolls back. Stop vas-routed before the first and the last.
    choices: [present, verified, absent]
    default: present
  cluster:
    description: Path of the site's map on the node.
    type: path
    default: /etc/vas/cluster.yaml
  node:
    description: Name of the node in the map, if it differs from the machine's own.
    type: str
  program:
    description: Path of the vas program.
    type: path
    default: /usr/bin/vas
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
author: the VAS project
"""

EXAMPLES = """
- name: Apply the planned routes
  vas.site.vas_route:
    node: "{{ inventory_hostname }}"
"""

RETURN = """
changes:
  description: Routes that were changed, would be, or differ, as in C(vas route plan --json).
  type: list
  elements: dict
  returned: always
"""

_COMMANDS = {
    # state: (command that changes, command that only looks)
    "present": ("apply", ["apply", "--dry-run"]),
    "verified": ("verify", ["verify"]),
    "absent": ("rollback", ["rollback", "--dry-run"]),
}


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "state": {"choices": list(_COMMANDS), "default": "present"},
            "cluster": {"type": "path", "default": "/etc/vas/cluster.yaml"},
            "node": {"type": "str"},
            "program": PROGRAM,
        },
        supports_check_mode=True,
    )
    state = module.params["state"]
    if not is_there(module):
        _end_without(module, state)
    status, changes = _run(module, state)
    said = [_words(change) for change in changes]
    if status == DIFFERENT:
        what = "; ".join(said)
        module.fail_json(msg=f"the kernel differs: {what}; see `vas route doctor`", changes=changes)
    diff = {"before": "", "after": "".join(f"{line}\n" for line in said)}
    module.exit_json(changed=bool(changes) and state != "verified", changes=changes, diff=diff)


def _run(module: Any, state: str) -> tuple[int, list[dict[str, Any]]]:
    changing, looking = _COMMANDS[state]
    verb = looking if module.check_mode else [changing]
    site = options({"cluster": module.params["cluster"], "node": module.params["node"]})
    accepted = (DONE, DIFFERENT) if state == "verified" else (DONE,)
    status, found = ask(module, ["route", *verb, *site], accepted)
    return status, found["changes"]


def _end_without(module: Any, state: str) -> None:
    """Ends the module on a node without vas, which check mode has not installed."""
    if state == "absent":
        module.exit_json(changed=False, changes=[])
    if module.check_mode:
        module.exit_json(changed=state == "present", changes=[], msg="vas is not installed yet")
    module.fail_json(msg=f"{module.params['program']}: no such program; run the role `program`")


def _words(change: dict[str, Any]) -> str:
    return " ".join(f"{value}" for value in change.values() if value not in (None, "", 0))


if __name__ == "__main__":
    main()
