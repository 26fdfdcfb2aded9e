"""The inventory plugin: a site's map, cluster.yaml, as hosts, groups and variables."""

from __future__ import annotations

import fcntl
import os
import sys
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleParserError
from ansible.plugins.inventory import BaseInventoryPlugin

DOCUMENTATION = """
name: vas_cluster
short_description: List the machines of cluster.yaml
description:
  - Reads a site's map, which C(vas cluster check) accepts, and derives hosts and groups.
  - Groups are C(vas_oss), C(vas_guests) and C(vas_resourcemanager); C(vas_evacuated) are the
    storage servers named in the file next to the map, C(cluster.yaml.evacuated), with their guests.
  - C(vas_clients) are the login nodes that the map names.
  - C(vas_monitoring) is empty; an inventory file of the site may add machines. C(vas_silent) is
    empty too; playbooks add guests that do not answer, or do not exist yet.
  - The file's name must end in C(vas.yml) or C(vas.yaml).
options:
  plugin:
    description: Name of the plugin; the first is for Ansible without the project's C(ansible.cfg).
    required: true
    choices: [vas.site.vas_cluster, vas_cluster]
  file:
    description: Path of the map; a relative path starts at this file's directory.
    type: path
    default: $VAS_CLUSTER, else /etc/vas/cluster.yaml
  connect:
    description: Whether SSH uses the map's addresses or its names.
    choices: [address, name]
    default: address
"""

EXAMPLES = """
plugin: vas.site.vas_cluster
file: cluster.yaml
"""


class InventoryModule(BaseInventoryPlugin):  # type: ignore[misc]
    """The inventory plugin `vas_cluster`, a thin layer over `vas_ansible.inventory`."""

    NAME = "vas_cluster"

    def verify_file(self, path: str) -> bool:
        """Returns whether the file's name marks it as an inventory of this plugin."""
        return bool(super().verify_file(path)) and path.endswith(("vas.yml", "vas.yaml"))

    def parse(self, inventory: Any, loader: Any, path: str, cache: bool = True) -> None:
        """Adds the map's machines to the inventory.

        Raises AnsibleParserError with one line for each problem of the file or the map.
        """
        super().parse(inventory, loader, path, cache)
        given = loader.load_from_file(path, cache="none") or {}
        unknown = sorted(set(given) - {"plugin", "file", "connect"})
        if unknown:
            raise AnsibleParserError(
                f"{path}: unknown key {unknown[0]}; file and connect are known"
            )
        connect = given.get("connect", "address")
        if connect not in ("address", "name"):
            raise AnsibleParserError(f"{path}: connect: {connect!r} is neither address nor name")
        self._fill(_map_next_to(path, given.get("file")), by_name=connect == "name")

    def _fill(self, file: Path, *, by_name: bool) -> None:
        try:
            from vas_ansible.inventory import InventoryGroup, evacuated_hosts, nodes_of
            from vas_cluster import load_cluster
            from vas_core.errors import BadInput
        except ImportError as missing:
            fix = "run ansible-playbook of VAS's environment: that of .venv/bin, or of vas-lustre"
            raise AnsibleParserError(f"{missing}; {fix}") from missing
        try:
            cluster = load_cluster(file)
            mark = file.with_name(f"{file.name}.evacuated")
            evacuated = evacuated_hosts(cluster, mark.read_text() if mark.exists() else "")
        except BadInput as wrong:
            raise AnsibleParserError(str(wrong)) from wrong
        if needs_hold(sys.argv):
            hold(file)
        for group in InventoryGroup:
            self.inventory.add_group(group.value)
        for node in nodes_of(cluster, evacuated):
            for group in node.groups:
                self.inventory.add_host(node.name, group=group.value)
            reached = node.name if by_name else node.address
            own = {"ansible_host": reached, "vas_address": node.address, **node.variables}
            for key, value in own.items():
                self.inventory.set_variable(node.name, key, value)
        everything = {
            "vas_cluster": cluster.model_dump(mode="json", exclude_none=True),
            "vas_cluster_file": str(file),
        }
        for key, value in everything.items():
            self.inventory.set_variable("all", key, value)


# Playbooks that storage must not wait for, and options with which nothing is changed.
_FREE_PLAYBOOKS = {"evacuate.yml", "vas.site.evacuate"}
_FREE_WORDS = {"--syntax-check", "--list-hosts", "--list-tasks", "--list-tags"}
_held: list[int] = []


def needs_hold(argv: list[str]) -> bool:
    """Returns whether a command line may change the site, so that others must wait."""
    program, *words = argv
    if Path(program).name != "ansible-playbook" or _FREE_WORDS & set(words):
        return False
    return not _FREE_PLAYBOOKS & {Path(word).name for word in words}


def hold(file: Path) -> None:
    """Locks the map against other playbooks until this process and its children end.

    Returns at once if this process has the lock: `meta: refresh_inventory` reads the map again.
    Raises AnsibleParserError, which names the other process, while another playbook is at work.
    """
    if any(os.path.samestat(os.fstat(descriptor), file.stat()) for descriptor in _held):
        return
    descriptor = os.open(file, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        # `from None`: Ansible would print the cause too.
        raise AnsibleParserError(f"{file}: {_who_holds(file)}") from None
    _held.append(descriptor)


def _who_holds(file: Path) -> str:
    """The kernel drops a lock with its last process, so a held lock has a living holder."""
    what = "another ansible-playbook is at work on this site"
    taker = taker_of(file.stat(), Path("/proc/locks").read_text())
    if taker and Path(f"/proc/{taker}").exists():
        return f"{what}, process {taker}; wait for its end, or interrupt it: kill -INT {taker}"
    left = [str(pid) for pid in _with_open(file) if pid != os.getpid()]
    if left:
        return f"a playbook on this site ended, and left processes behind: kill {' '.join(left)}"
    return f"{what}, as another user or on another machine; wait for its end"


def taker_of(file: os.stat_result, locks: str) -> int | None:
    """Returns the process that took the lock of a file, from the text of /proc/locks.

    None if nobody holds the lock. The process may have ended while a child still holds it.
    """
    device = f"{os.major(file.st_dev):02x}:{os.minor(file.st_dev):02x}:{file.st_ino}"
    for words in map(str.split, locks.splitlines()):
        if words[1:2] == ["FLOCK"] and words[5:6] == [device]:
            return int(words[4])
    return None


def _with_open(file: Path) -> list[int]:
    """Processes that have the file open, as far as this user may see."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if link.samefile(file):
                found.add(int(link.parts[2]))
        except OSError:  # ended meanwhile, or another user's
            continue
    return sorted(found)


def _map_next_to(path: str, named: str | None) -> Path:
    if named:
        return (Path(path).parent / Path(named).expanduser()).resolve()
    return Path(os.environ.get("VAS_CLUSTER") or "/etc/vas/cluster.yaml").absolute()
