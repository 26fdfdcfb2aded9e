#!/usr/bin/python
"""The Ansible module `vas_guest`: calls `vas guest` on a storage server."""

from __future__ import annotations

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
module: vas_guest
short_description: Define and start a guest of the map
description:
  - Creates missing disks, the pool of virtual functions, the cloud-init seed and the domain, and
    compares them with libvirt's. An existing disk is never written to, and a running guest is
    never stopped.
options:
  state:
    description:
      - C(defined) defines the guest, C(started) starts it too, C(verified) compares and fails on a
        difference, C(absent) undefines a guest that does not run, and keeps its disks.
    choices: [defined, started, verified, absent]
    default: defined
  name:
    description: Name of the guest in the map.
    type: str
    required: true
  cluster:
    description: Path of the site's map on the node.
    type: path
    default: /etc/vas/cluster.yaml
  settings:
    description: Path of the settings of all guests on the node.
    type: path
    default: /etc/vas/guest.yaml
  placement:
    description: Path of the guest's placement on the node, from C(vas affinity emit --as libvirt).
    type: path
  image:
    description: Path of the image on the node, from which a missing first disk is created.
    type: path
  wait:
    description:
      - Number of seconds to wait for the agent of a guest that C(started) starts. If the agent does
        not answer, the module fails with the end of the guest's console. 0 does not wait.
    type: int
    default: 0
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
- name: Define and start the guest
  vas.site.vas_guest:
    name: vm1
    state: started
    image: /var/lib/vas/image/vas-guest.qcow2
"""

RETURN = """
differences:
  description: Differences from the desired guest, each with the keys where, wished and found.
  type: list
  elements: dict
  returned: always
running:
  description: Whether the guest ran before.
  type: bool
  returned: when the state is not absent
restart:
  description:
    - Whether the guest ran, and a change takes effect at its next start. A new seed does not count,
      as only the first start reads it.
  type: bool
  returned: when the state is not absent
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
    """Ends the module on a node without vas, which check mode has not installed."""
    if state == "absent" or module.check_mode:
        module.exit_json(changed=state in ("defined", "started"), differences=[])
    module.fail_json(msg=f"{module.params['program']}: no such program; run the role `program`")


if __name__ == "__main__":
    main()
