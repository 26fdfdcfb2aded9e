#!/usr/bin/python
"""The Ansible module `vas_guest`, thin over `vas guest`."""

from __future__ import annotations

from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.vas import (
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
module: vas_guest
short_description: A guest as the map has it, defined to the storage server's libvirt
description:
  - Makes disks that are not there, the pool of virtual functions, the cloud-init seed and the
    domain, and compares them with what libvirt has. A disk that is there is never written to, and
    a guest that runs is never stopped.
options:
  state:
    description:
      - C(defined) defines it, C(started) starts it too, C(verified) compares and fails where it
        differs, C(absent) forgets it, if it does not run; its disks stay.
    choices: [defined, started, verified, absent]
    default: defined
  name:
    description: The guest's name in the map.
    type: str
    required: true
  cluster:
    description: The site's map on the node.
    type: path
    default: /etc/vas/cluster.yaml
  settings:
    description: What the site says of all its guests, on the node.
    type: path
    default: /etc/vas/guest.yaml
  placement:
    description: What C(vas affinity emit --as libvirt) says of the guest, on the node.
    type: path
  image:
    description: What the first disk is made of where it is not there, on the node.
    type: path
  wait:
    description:
      - For how many seconds a guest that C(started) starts may take until its guest agent answers.
        If it does not, the module fails with the end of its console. 0 does not wait.
    type: int
    default: 0
  planned:
    description:
      - What files are going to have, by the option that names them, like C(cluster). In check mode
        they are as they were, or not there; then this counts.
    type: dict
    default: {}
  program:
    description: Where vas is.
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
- name: Define and start the guest
  vas_guest:
    name: vm1
    state: started
    image: /var/lib/vas/image/vas-guest.qcow2
"""

RETURN = """
differences:
  description: What was not as wished, each with where, wished and found.
  type: list
  elements: dict
  returned: always
running:
  description: Whether the guest ran before.
  type: bool
  returned: when it is asked for
restart:
  description:
    - Whether it ran, and something was changed that counts from its next start. A seed is not such,
      as it is read at the first start only.
  type: bool
  returned: when it is asked for
"""

_ARGUMENTS = {
    "state": {"choices": ["defined", "started", "verified", "absent"], "default": "defined"},
    "name": {"type": "str", "required": True},
    "cluster": {"type": "path", "default": "/etc/vas/cluster.yaml"},
    "settings": {"type": "path", "default": "/etc/vas/guest.yaml"},
    "placement": {"type": "path"},
    "image": {"type": "path"},
    "wait": {"type": "int", "default": 0},
    "planned": PLANNED,
    "program": PROGRAM,
}
_FILES = ("cluster", "settings", "placement")


def main() -> None:
    module = AnsibleModule(argument_spec=_ARGUMENTS, supports_check_mode=True)
    state = module.params["state"]
    if not is_there(module):
        _end_without(module, state)
    take_planned(module)
    {"verified": _verified, "absent": _absent}.get(state, _present)(module)


def _words(module: Any, verb: str) -> list[str]:
    files = options({key: module.params[key] for key in _FILES})
    return ["guest", verb, module.params["name"], *files]


def _present(module: Any) -> None:
    words = [*_words(module, "apply"), *options({"image": module.params["image"]})]
    start = module.params["state"] == "started"
    words += ["--dry-run"] if module.check_mode else []
    words += ["--start"] if start else []
    words += ["--wait", str(module.params["wait"])] if start and module.params["wait"] else []
    _, found = ask(module, words)
    changed = bool(found["differences"]) or (start and not found["running"])
    module.exit_json(changed=changed, diff=_diff(found["differences"]), **found)


def _verified(module: Any) -> None:
    status, found = ask(module, _words(module, "verify"), (DONE, DIFFERENT))
    if status == DIFFERENT:
        what = "; ".join(
            f"{d['where']}: {d['wished']}, is {d['found']}" for d in found["differences"]
        )
        module.fail_json(msg=f"the guest differs from the map: {what}", **found)
    module.exit_json(changed=False, **found)


def _absent(module: Any) -> None:
    words = [*_words(module, "remove"), *(["--dry-run"] if module.check_mode else [])]
    _, found = ask(module, words)
    module.exit_json(changed=found["removed"], differences=[])


def _diff(differences: list[dict[str, Any]]) -> dict[str, str]:
    sides = {"before": "found", "after": "wished"}
    return {
        side: "".join(f"{d['where']}: {d[key]}\n" for d in differences)
        for side, key in sides.items()
    }


def _end_without(module: Any, state: str) -> None:
    """Without the program: nothing of it is there; in check mode it would be installed before."""
    if state == "absent" or module.check_mode:
        module.exit_json(changed=state in ("defined", "started"), differences=[])
    module.fail_json(msg=f"{module.params['program']}: no such program; run the role `program`")


if __name__ == "__main__":
    main()
