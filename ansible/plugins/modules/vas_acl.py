#!/usr/bin/python
"""The Ansible module `vas_acl`: grants a user the new entries of a directory."""

from __future__ import annotations

import errno
import os
import pwd
import struct
from typing import Any

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: vas_acl
short_description: Let one more user read new entries of a directory
description:
  - Sets the access list of a directory and the list that new entries inherit. Owner and group keep
    all rights, others have none, and the user may read. New entries inherit the list whatever
    the writer's umask is, and a later chmod keeps it. Needs no program C(setfacl).
  - A link in the directory's place is refused.
options:
  path:
    description: Path of the directory.
    type: path
    required: true
  user:
    description: User who may read in addition to owner and group.
    type: str
    required: true
attributes:
  check_mode:
    support: full
author: the VAS project
"""

EXAMPLES = """
- name: Grant a user the logs of its own jobs
  vas.site.vas_acl:
    path: /scratch/yarn/logs/ann
    user: ann
"""

RETURN = """
supported:
  description: Whether the file system has access lists; without them nothing is changed.
  type: bool
  returned: always
"""

_NAMES = ("system.posix_acl_access", "system.posix_acl_default")
# linux/posix_acl_xattr.h and linux/posix_acl.h: version; tag, rights and number of each entry.
_VERSION, _NOBODY = 2, 0xFFFFFFFF
_OWNER, _USER, _GROUP, _MASK, _OTHERS = 0x01, 0x02, 0x04, 0x10, 0x20
_ALL, _READ, _NOTHING = 7, 5, 0


def wanted(uid: int) -> bytes:
    """Returns the access list in the kernel's format of an extended attribute."""
    entries = (
        (_OWNER, _ALL, _NOBODY),
        (_USER, _READ, uid),
        (_GROUP, _ALL, _NOBODY),
        (_MASK, _ALL, _NOBODY),
        (_OTHERS, _NOTHING, _NOBODY),
    )
    return struct.pack("<I", _VERSION) + b"".join(struct.pack("<HHI", *one) for one in entries)


def differing(directory: int, uid: int) -> list[str]:
    """Returns the attributes of an open directory whose list differs.

    Raises OSError if an attribute cannot be read.
    """
    return [name for name in _NAMES if _read(directory, name) != wanted(uid)]


def _read(directory: int, name: str) -> bytes:
    try:
        return os.getxattr(directory, name)
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise
        return b""


def apply(path: str, uid: int, *, change: bool) -> tuple[bool, bool]:
    """Returns whether the lists differed, and whether the file system supports lists.

    Writes differing lists only if `change`. Raises OSError, also if `path` is a link.
    """
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        names = differing(directory, uid)
        for name in names if change else ():
            os.setxattr(directory, name, wanted(uid))
    except OSError as error:
        if error.errno != errno.EOPNOTSUPP:
            raise
        return False, False
    finally:
        os.close(directory)
    return bool(names), True


def main() -> None:
    arguments: dict[str, Any] = {
        "path": {"type": "path", "required": True},
        "user": {"type": "str", "required": True},
    }
    module = AnsibleModule(argument_spec=arguments, supports_check_mode=True)
    path, user = module.params["path"], module.params["user"]
    if module.check_mode and not os.path.lexists(path):
        module.exit_json(changed=True, supported=True)
    try:
        uid = pwd.getpwnam(user).pw_uid
        changed, supported = apply(path, uid, change=not module.check_mode)
    except KeyError:
        module.fail_json(msg=f"{user}: this user is unknown on this node; create the user")
    except OSError as error:
        module.fail_json(msg=f"{path}: {error.strerror}; it must be a directory, not a link")
    if not supported:
        module.warn(
            f"{path}: its file system has no access lists: `yarn logs` is refused to {user}"
        )
    module.exit_json(changed=changed, supported=supported)


if __name__ == "__main__":
    main()
