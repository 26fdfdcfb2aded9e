"""Mounts a file system of one host on another one too, as Lustre is mounted on both."""

from __future__ import annotations

import sys

from vas_core.process import run
from vas_tests.hosts.host import EmulatedHost

# open_tree(2) makes a mount that is nowhere yet, move_mount(2) puts it there: the same numbers on
# every 64-bit architecture. A bind mount from another namespace is refused (mount(2), EINVAL).
_MOVE = """
import ctypes, os, sys
syscall = ctypes.CDLL(None, use_errno=True).syscall
path, source, target = os.fsencode(sys.argv[1]), os.open(sys.argv[2], 0), os.open(sys.argv[3], 0)
def enter(namespace):
    if ctypes.CDLL(None, use_errno=True).setns(namespace, 0x20000):
        sys.exit(f"setns: {os.strerror(ctypes.get_errno())}")
enter(source)
tree = syscall(428, -100, path, 0x80001)  # AT_FDCWD, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC
if tree < 0:
    sys.exit(f"open_tree: {os.strerror(ctypes.get_errno())}")
enter(target)
if syscall(429, tree, b"", -100, path, 4):  # MOVE_MOUNT_F_EMPTY_PATH
    sys.exit(f"move_mount: {os.strerror(ctypes.get_errno())}")
"""


def share(path: str, source: EmulatedHost, target: EmulatedHost) -> None:
    """Mounts a host's tree at `path` at the same path of another. Raises CommandFailed."""
    spaces = [f"/proc/{host.first}/ns/mnt" for host in (source, target)]
    run([sys.executable, "-c", _MOVE, path, *spaces])
