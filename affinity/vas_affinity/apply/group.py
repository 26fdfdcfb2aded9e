"""The setting of a cgroup's CPUs: `cpuset.cpus`, of cgroup v2 or of a v1 hierarchy."""

from __future__ import annotations

from dataclasses import dataclass

from vas_affinity.apply.setting import Gone, Value, normal
from vas_core.errors import VasError
from vas_core.root import Root

KIND = "group"
_MOUNT = "sys/fs/cgroup"


def hierarchy(root: Root) -> str:
    """Returns the directory of the cgroups that have cpusets."""
    unified = root.path(f"{_MOUNT}/cgroup.controllers").exists()
    return _MOUNT if unified else f"{_MOUNT}/cpuset"


def inode(root: Root, path: str) -> int | None:
    """Returns the inode, which tells a cgroup from a later one of its name; None if missing."""
    try:
        return root.path(f"{hierarchy(root)}/{path}").stat().st_ino
    except OSError:
        return None


@dataclass(frozen=True)
class GroupCpus:
    """The CPUs of the cgroup at `path` below the hierarchy, as long as it has that `inode`."""

    path: str
    inode: int
    root: Root

    @property
    def key(self) -> str:
        return f"{KIND}:{self.inode}:{self.path}"

    @property
    def what(self) -> str:
        return f"cgroup {self.path}"

    def read(self) -> Value:
        """Returns the CPUs; empty if a v2 group uses its parent's.

        Raises Gone if the cgroup was removed, VasError if it has no cpuset.
        """
        if inode(self.root, self.path) != self.inode:
            raise Gone("the cgroup was removed")
        text = self.root.read(self._file)
        if text is None:
            parent = self.path.rpartition("/")[0]
            fix = f"write +cpuset to {_MOUNT}/{parent}/cgroup.subtree_control".replace("//", "/")
            raise VasError("has no cpuset", where=self.path, hint=fix)
        return normal(text)

    def write(self, value: Value) -> None:
        self.read()
        # A write of nothing at all would not reach the kernel.
        self.root.path(self._file).write_text(f"{value or ''}\n")

    @property
    def _file(self) -> str:
        return f"{hierarchy(self.root)}/{self.path}/cpuset.cpus"


def group_of_key(rest: str, root: Root) -> GroupCpus:
    """Returns the setting of a journal key; `rest` is the key without its kind."""
    number, _, path = rest.partition(":")
    return GroupCpus(path, int(number), root)
