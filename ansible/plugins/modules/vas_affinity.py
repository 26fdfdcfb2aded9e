#!/usr/bin/python
"""The Ansible module `vas_affinity`: calls `vas affinity` on a node."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vas.site.plugins.module_utils.vas import (
    DIFFERENT,
    DONE,
    PLANNED,
    PROGRAM,
    ask,
    is_there,
    options,
    take_planned,
)

DOCUMENTATION = """
module: vas_affinity
short_description: Plan and verify the CPUs of a storage server's guests
description:
  - Plans where a storage server's guests run, compares the server with the plan, or restores
    every value. A new plan is made only when C(inputs) or an option has changed, as two snapshots
    of one machine are never the same.
options:
  state:
    description:
      - C(planned) writes a plan, C(verified) compares and fails where they differ, C(absent)
        rolls back. Stop vas-affinityd before the last.
    choices: [planned, verified, absent]
    default: planned
  plan:
    description: Path of the plan on the node.
    type: path
    default: /etc/vas/placement.json
  cluster:
    description: Path of the site's map on the node.
    type: path
    default: /etc/vas/cluster.yaml
  host:
    description: Name of the node in the map.
    type: str
    required: true
  oss_share:
    description: Share of the cores that the storage server keeps, 0 to 0.9.
    type: float
  junk_siblings:
    description: Whether the sibling threads of the guests' cores stay idle.
    type: bool
    default: false
  huge_pages:
    description: Whether the guests' memory is in huge pages, which must be reserved.
    type: bool
    default: true
  inputs:
    description: Values that the plan depends on; a change makes a new plan.
    type: dict
    default: {}
  force:
    description: Whether a new plan is made in any case.
    type: bool
    default: false
  planned:
    description:
      - Planned content of files, by the option that names the file, like C(cluster). Check mode
        uses it, as the files on the node are old or missing then.
    type: dict
    default: {}
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
- name: Plan the placement of the guests
  vas.site.vas_affinity:
    host: "{{ inventory_hostname }}"
    inputs: "{{ vas_host }}"
"""

RETURN = """
notes:
  description: Notes of the plan, such as memory that a NUMA node lacks.
  type: list
  elements: str
  returned: when planned
outcomes:
  description: Each value that differs or was restored, as in C(vas affinity --json).
  type: list
  elements: dict
  returned: when verified or absent
"""

_ARGUMENTS = {
    "state": {"choices": ["planned", "verified", "absent"], "default": "planned"},
    "plan": {"type": "path", "default": "/etc/vas/placement.json"},
    "cluster": {"type": "path", "default": "/etc/vas/cluster.yaml"},
    "host": {"type": "str", "required": True},
    "oss_share": {"type": "float"},
    "junk_siblings": {"type": "bool", "default": False},
    "huge_pages": {"type": "bool", "default": True},
    "inputs": {"type": "dict", "default": {}},
    "force": {"type": "bool", "default": False},
    "planned": PLANNED,
    "program": PROGRAM,
}
_GIVEN_BACK = ("restored", "to restore")
_DIFFERS = ("different", "failed")


def main() -> None:
    module = AnsibleModule(argument_spec=_ARGUMENTS, supports_check_mode=True)
    state = module.params["state"]
    if not is_there(module):
        _end_without(module, state)
    take_planned(module)
    if state == "planned":
        _planned(module)
    _verified(module) if state == "verified" else _absent(module)


def _planned(module: Any) -> None:
    plan = Path(module.params["plan"])
    made_for = plan.with_suffix(".inputs")
    inputs = _digest(module) + "\n"
    before = plan.read_text() if plan.exists() else ""
    is_current = made_for.exists() and made_for.read_text() == inputs
    if before and is_current and not module.params["force"]:
        # Huge pages may have been reserved since, or lost by a boot.
        found = _asked(module) if module.params["huge_pages"] else json.loads(before)
        module.exit_json(changed=False, notes=found.get("notes", []))
    found = _asked(module, *([] if module.check_mode else [f"--out={plan}"]))
    if not module.check_mode:
        made_for.write_text(inputs)
    diff = {"before": before, "after": json.dumps(found, indent=2) + "\n"}
    module.exit_json(changed=True, notes=found.get("notes", []), diff=diff)


def _asked(module: Any, *more: str) -> dict[str, Any]:
    """Returns a plan for the present state of the server."""
    site = {"cluster": module.params["cluster"], "host": module.params["host"]}
    arguments = options({**site, "oss-share": module.params["oss_share"]})
    arguments += ["--junk-siblings"] if module.params["junk_siblings"] else []
    arguments += [] if module.params["huge_pages"] else ["--no-huge-pages"]
    found: dict[str, Any] = ask(module, ["affinity", "plan", *arguments, *more])[1]
    return found


def _digest(module: Any) -> str:
    keys = ("inputs", "oss_share", "junk_siblings", "huge_pages")
    made_of = {key: module.params[key] for key in keys}
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()


def _verified(module: Any) -> None:
    arguments = ["affinity", "verify", module.params["plan"], f"--host={module.params['host']}"]
    status, found = ask(module, arguments, (DONE, 1, DIFFERENT))
    wrong = [outcome for outcome in found["outcomes"] if outcome["verdict"] in _DIFFERS]
    if status != DONE:
        what = "; ".join(f"{o['what']}: wanted {o['wanted']}, is {o['now']}" for o in wrong)
        module.fail_json(msg=f"the server differs from its plan: {what}", outcomes=wrong)
    module.exit_json(changed=False, outcomes=[])


def _absent(module: Any) -> None:
    dry = ["--dry-run"] if module.check_mode else []
    arguments = ["affinity", "rollback", f"--host={module.params['host']}", *dry]
    outcomes = ask(module, arguments)[1]["outcomes"]
    changed = any(outcome["verdict"] in _GIVEN_BACK for outcome in outcomes)
    lines = "".join(f"{o['what']}: {o['now']}\n" for o in outcomes)
    module.exit_json(changed=changed, outcomes=outcomes, diff={"before": "", "after": lines})


def _end_without(module: Any, state: str) -> None:
    """Ends the module on a node without vas, which check mode has not installed."""
    if state == "absent":
        module.exit_json(changed=False, outcomes=[])
    if module.check_mode:
        module.exit_json(changed=state == "planned", msg="vas is not installed yet")
    module.fail_json(msg=f"{module.params['program']}: no such program; run the role `program`")


if __name__ == "__main__":
    main()
