#!/usr/bin/python
"""The Ansible module `vas_empty_directories`: removes directories that nothing is left in."""

from __future__ import annotations

from pathlib import Path

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: vas_empty_directories
short_description: Directories that are empty go
description:
  - Removes each directory in which nothing is left. One with anything in it stays as it is,
    since it is somebody's, and so does one that something is mounted on.
options:
  paths:
    description: The directories, the inner ones first.
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
  vas_empty_directories:
    paths: [/etc/vas]
"""

RETURN = """
removed:
  description: Those that were removed, or would be.
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
