#!/usr/bin/python
"""The Ansible module `vas_packages`: the distribution's packages, and exactly those back."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, ClassVar

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: vas_packages
short_description: Packages that leave the machine as they found it
description:
  - Installs what is missing and remembers which packages came with it, dependencies too.
  - When no role wants them any more, removes those, and nothing else. If anything that
    came later needs one of them, all are kept, and that is said.
options:
  names:
    description: The packages' names in this distribution.
    type: list
    elements: str
    default: []
  role:
    description: On whose behalf; a role's later list replaces its earlier one.
    type: str
    required: true
  state:
    description: Whether the role wants them.
    choices: [present, absent]
    default: present
  record:
    description: Where it is remembered.
    type: path
    default: /var/lib/vas/packages.json
attributes:
  check_mode:
    support: full
author: the VAS project
"""

EXAMPLES = """
- name: Ensure Java is there
  vas_packages:
    names: [openjdk-17-jre-headless]
    role: hadoop
"""

RETURN = """
installed:
  description: What was installed, dependencies too; in check mode what is missing.
  type: list
  elements: str
  returned: always
removed:
  description: What was removed, or would be.
  type: list
  elements: str
  returned: always
kept:
  description: Why packages that VAS brought were not removed.
  type: str
  returned: always
"""

Record = dict[str, Any]
_EMPTY: Record = {"wanted": {}, "before": None, "added": []}
_APT = {"DEBIAN_FRONTEND": "noninteractive", "APT_LISTCHANGES_FRONTEND": "none"}


class Apt:
    """Debian's programs."""

    listing = ("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n")
    update = ("apt-get", "-q", "update")
    install = ("apt-get", "-q", "-y", "--no-install-recommends", "install")
    try_remove = ("dpkg", "--dry-run", "--purge")
    remove = ("dpkg", "--purge")
    environment: ClassVar[dict[str, str]] = _APT


class Dnf:
    """Rocky's programs."""

    listing = ("rpm", "-qa", "--qf", "installed %{NAME}\n")
    update = None
    install = ("dnf", "-q", "-y", "--setopt=install_weak_deps=False", "install")
    try_remove = ("rpm", "--erase", "--test")
    remove = ("rpm", "--erase")
    environment: ClassVar[dict[str, str]] = {}


def removable(record: Record, installed: set[str]) -> list[str]:
    """What VAS brought and may take again: nothing, as long as a role wants any of it."""
    return [] if record["wanted"] else sorted(set(record["added"]) & installed)


def without_role(record: Record, role: str) -> Record:
    """The record when a role wants nothing any more."""
    return {**record, "wanted": {r: n for r, n in record["wanted"].items() if r != role}}


def with_added(record: Record, installed: set[str]) -> Record:
    """The record after an installation: what was not there before it has been added."""
    new = installed - set(record["before"] or installed)
    return {**record, "before": None, "added": sorted(set(record["added"]) | new)}


class Packages:
    """The packages of this machine, and the record of those that VAS brought."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._path = Path(module.params["record"])
        self._manager = Apt if Path("/usr/bin/dpkg-query").exists() else Dnf

    def present(self, role: str, names: list[str]) -> dict[str, Any]:
        record, installed = self._read(), self._installed()
        missing = sorted(set(names) - installed)
        wanted = {**record["wanted"], role: sorted(names)} if names else record["wanted"]
        if missing and not self._module.check_mode:
            # Before the first change: a run that dies in it is known by this to the next one.
            before = record["before"] or sorted(installed)
            record = {**record, "before": before, "wanted": wanted}
            self._write(record)
            self._install(missing)
        if record["before"] is not None and not self._module.check_mode:
            now = self._installed()
            missing = sorted(now - set(record["before"]))
            record = with_added(record, now)
        changed = bool(missing) or wanted != self._read()["wanted"]
        if changed and not self._module.check_mode:
            self._write({**record, "wanted": wanted})
        return {"changed": changed, "installed": missing, "removed": [], "kept": ""}

    def absent(self, role: str) -> dict[str, Any]:
        old = self._read()
        record, installed = without_role(old, role), self._installed()
        if record["before"] is not None:
            record = with_added(record, installed)
        names = removable(record, installed)
        kept = self._needed(names) if names else ""
        going = [] if kept else names
        if not self._module.check_mode:
            self._remove(going)
            left = sorted(set(record["added"]) & installed - set(going))
            self._write({**record, "added": left})
        changed = bool(going) or record != old
        return {"changed": changed, "installed": [], "removed": going, "kept": kept}

    def _installed(self) -> set[str]:
        lines = self._run(*self._manager.listing)[1].splitlines()
        words = (line.split(" ", 1) for line in lines)
        return {name for status, name in words if status == "installed"}

    def _install(self, names: list[str]) -> None:
        if self._manager.update:
            self._run(*self._manager.update)
        self._run(*self._manager.install, *names)

    def _needed(self, names: list[str]) -> str:
        status, _, stderr = self._run(*self._manager.try_remove, *names, check=False)
        return " ".join(stderr.split()) if status else ""

    def _remove(self, names: list[str]) -> None:
        if names:
            self._run(*self._manager.remove, *names)

    def _run(self, *argv: str, check: bool = True) -> tuple[int, str, str]:
        environment = {"LC_ALL": "C", **self._manager.environment}
        found = self._module.run_command(list(argv), environ_update=environment)
        status, stdout, stderr = found
        if check and status:
            self._module.fail_json(msg=stderr.strip() or stdout.strip(), cmd=list(argv), rc=status)
        return status, stdout, stderr

    def _read(self) -> Record:
        try:
            return {**_EMPTY, **json.loads(self._path.read_text())}
        except FileNotFoundError:
            return dict(_EMPTY)

    def _write(self, record: Record) -> None:
        if record == _EMPTY:
            if self._path.exists():
                self._path.unlink()
            return
        self._path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        temporary = self._path.with_name(f"{self._path.name}.new")
        with temporary.open("w") as stream:
            json.dump(record, stream, indent=1)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.rename(self._path)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "names": {"type": "list", "elements": "str", "default": []},
            "role": {"type": "str", "required": True},
            "state": {"choices": ["present", "absent"], "default": "present"},
            "record": {"type": "path", "default": "/var/lib/vas/packages.json"},
        },
        supports_check_mode=True,
    )
    packages = Packages(module)
    role = module.params["role"]
    if module.params["state"] == "absent":
        module.exit_json(**packages.absent(role))
    module.exit_json(**packages.present(role, module.params["names"]))


if __name__ == "__main__":
    main()
