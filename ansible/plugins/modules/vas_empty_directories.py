#!/usr/bin/python
"""The Ansible module `vas_empty_directories`: removes directories that are empty."""

from __future__ import annotations

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: vas_empty_directories
short_description: Remove empty directories
description:
  - Removes each empty directory. A directory with any entry stays, as somebody uses it, and so
    does a mount point.
options:
  paths:
    description: Paths of the directories, inner ones first.
    type: list
    elements: path
    required: true
attributes:
  check_mode:
    support: full
author: the VAS project
"""

EXAMPLES = """
- name: Remove the directory if it is empty
  vas.site.vas_empty_directories:
    paths: [/etc/vas]
"""

RETURN = """
removed:
  description: Directories that were removed, or would be.
  type: list
  elements: str
  returned: always
"""


def main() -> None:
    arguments = {"paths": {"type": "list", "elements": "path", "required": True}}
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    removed = []
    for path in map(Path, module.params["paths"]):
        if path.is_symlink() or not path.is_dir() or path.is_mount():
            continue
        if not any(path.iterdir()):
            if not module.check_mode:
                path.rmdir()
            removed.append(str(path))
    module.exit_json(changed=bool(removed), removed=removed)


if __name__ == "__main__":
    main()
