#!/usr/bin/python
"""The Ansible module `vas_packages`: installs packages, and removes exactly those again."""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any, ClassVar

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vas.site.plugins.module_utils.vas import make_directories

DOCUMENTATION = """
module: vas_packages
short_description: Install packages and remove exactly those again
description:
  - Installs missing packages and records which packages each role brought, with dependencies.
    An installation that would remove a package is refused.
  - When a role is removed, removes the packages that it brought and no other role wants, and
    nothing else. If any other package needs one of them, all are kept, and C(kept) says so;
    packages that another role needs are removed with that role.
options:
  names:
    description: Names of the packages in this distribution.
    type: list
    elements: str
    default: []
  role:
    description: Role that wants the packages; its later list replaces its earlier one.
    type: str
    required: true
  state:
    description: C(present) installs the packages; C(absent) removes those of the role.
    choices: [present, absent]
    default: present
  record:
    description: Path of the record.
    type: path
    default: /var/lib/vas/packages.json
attributes:
  check_mode:
    support: full
author: the VAS project
"""

EXAMPLES = """
- name: Install Java
  vas.site.vas_packages:
    names: [openjdk-17-jre-headless]
    role: hadoop
"""

RETURN = """
installed:
  description: Packages that were installed, with dependencies; in check mode the missing ones.
  type: list
  elements: str
  returned: always
removed:
  description: Packages that were removed, or would be.
  type: list
  elements: str
  returned: always
kept:
  description: Why packages that VAS brought were not removed.
  type: str
  returned: always
"""

Record = dict[str, Any]
# "wanted": role -> names; "added": role -> packages it brought; "before": an installation that has
# not ended.
_EMPTY: Record = {"wanted": {}, "before": None, "added": {}}
# Keys of repositories, which dnf imports and rpm lists; all of them have this name.
_KEYS = "gpg-pubkey"
_APT = {"DEBIAN_FRONTEND": "noninteractive", "APT_LISTCHANGES_FRONTEND": "none"}


class Apt:
    """Commands of apt and dpkg, and readers of their output."""

    listing = ("dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n")
    update = ("apt-get", "-q", "update")
    install = ("apt-get", "-q", "-y", "--no-install-recommends", "--no-remove", "install")
    try_remove = ("apt-get", "-q", "-y", "--simulate", "purge")
    remove = ("dpkg", "--purge")
    environment: ClassVar[dict[str, str]] = _APT

    @staticmethod
    def name(listed: str) -> str:
        """Returns the package name of an entry of the listing."""
        return listed

    @staticmethod
    def others(names: list[str], status: int, stdout: str, stderr: str) -> list[str]:
        """Returns other packages that a simulated removal would move, or its error message."""
        lines = [line.split() for line in stdout.splitlines()]
        moved = {words[1] for words in lines if words and words[0] in ("Purg", "Remv", "Inst")}
        return sorted(moved - set(names)) or ([stderr.strip()] if status else [])


class Dnf:
    """Commands of dnf and rpm, and readers of their output."""

    listing = ("rpm", "-qa", "--qf", "installed %{NAME} %{NAME}-%{VERSION}-%{RELEASE}\n")
    update = None
    # Nothing is removed without --allowerasing.
    install = ("dnf", "-q", "-y", "--setopt=install_weak_deps=False", "install")
    try_remove = ("rpm", "--erase", "--test")
    remove = ("rpm", "--erase")
    environment: ClassVar[dict[str, str]] = {}

    @staticmethod
    def name(listed: str) -> str:
        """Returns the package name of an entry of the listing.

        A repository key's has its number, as all keys share one name.
        """
        name, numbered = listed.split()
        return numbered if name == _KEYS else name

    @staticmethod
    def others(names: list[str], status: int, stdout: str, stderr: str) -> list[str]:
        """Returns the packages that need `names`, by rpm's `... is needed by (installed) NAME`."""
        needed = {line.split()[-1] for line in stderr.splitlines() if " is needed by " in line}
        return sorted(needed) or ([stderr.strip()] if status else [])


def would_remove(said: str) -> list[str]:
    """Returns the packages that an installation would remove, from the output of apt-get."""
    found = re.search(r"will be REMOVED:\n((?: .*\n?)+)", said)
    return found[1].split() if found else []


def removable(record: Record, role: str, installed: set[str]) -> list[str]:
    """Returns the installed packages that a role brought and no other role wants by name."""
    others = {name for other, names in record["wanted"].items() if other != role for name in names}
    return sorted(set(record["added"].get(role, [])) & installed - others)


def without_role(record: Record, role: str) -> Record:
    """Returns the record without the packages that a role wants."""
    return {**record, "wanted": {r: n for r, n in record["wanted"].items() if r != role}}


def settled(record: Record, installed: set[str]) -> Record:
    """Returns the record after an installation, also an interrupted one.

    Packages that were not installed before it count as brought by its role.
    """
    if record["before"] is None:
        return record
    role, before = record["before"]["role"], set(record["before"]["installed"])
    came = sorted({*record["added"].get(role, []), *(installed - before)})
    return {**record, "before": None, "added": {**record["added"], role: came}}


def bequeathed(record: Record, role: str, left: list[str], needing: list[str]) -> Record:
    """Returns the record without a role; packages that stay go to a role that wants or needs them.

    `left`: packages that the role brought and that stay; `needing`: packages that need them.
    """
    added = {other: set(names) for other, names in record["added"].items() if other != role}
    wanted = {r: {*names, *added.get(r, ())} for r, names in record["wanted"].items()}
    for name in left:
        heirs = [r for r, names in wanted.items() if name in names]
        heirs += [r for r, names in wanted.items() if names & {*needing}]
        added.setdefault(heirs[0] if heirs else role, set()).add(name)
    return {**record, "added": {r: sorted(names) for r, names in added.items() if names}}


class Packages:
    """Installs and removes packages, and keeps the record of those that VAS brought."""

    def __init__(self, module: Any) -> None:
        self._module = module
        self._path = Path(module.params["record"])
        self._manager = Apt if Path("/usr/bin/dpkg-query").exists() else Dnf

    def present(self, role: str, names: list[str]) -> dict[str, Any]:
        """Installs the missing packages of a role; returns the module's result (see RETURN)."""
        old, installed = self._read(), self._installed()
        record = settled(old, installed)
        missing = sorted(set(names) - installed)
        if names:
            record = {**record, "wanted": {**record["wanted"], role: sorted(names)}}
        if missing and not self._module.check_mode:
            # Before the first change: the next run knows an interrupted one by this.
            before = {"role": role, "installed": sorted(installed)}
            self._write({**record, "before": before})
            self._install(missing)
            now = self._installed()
            missing = sorted(now - installed)
            record = settled({**record, "before": before}, now)
        changed = bool(missing) or record != old
        if changed and not self._module.check_mode:
            self._write(record)
        return {"changed": changed, "installed": missing, "removed": [], "kept": ""}

    def absent(self, role: str) -> dict[str, Any]:
        """Removes a role's packages that nothing else needs; returns the module's result."""
        old, installed = self._read(), self._installed()
        record = without_role(settled(old, installed), role)
        names = removable(record, role, installed)
        needing = self._needing(names) if names else []
        going = [] if needing else names
        left = sorted(set(record["added"].get(role, [])) & installed - set(going))
        record = bequeathed(record, role, left, needing)
        if not self._module.check_mode:
            self._remove(going)
            self._write(record)
        kept = f"{', '.join(names)}: {', '.join(needing)} would go or come too" if needing else ""
        changed = bool(going) or record != old
        return {"changed": changed, "installed": [], "removed": going, "kept": kept}

    def _installed(self) -> set[str]:
        lines = self._run(*self._manager.listing)[1].splitlines()
        words = (line.split(" ", 1) for line in lines)
        return {self._manager.name(listed) for status, listed in words if status == "installed"}

    def _install(self, names: list[str]) -> None:
        if self._manager.update:
            self._run(*self._manager.update)
        status, stdout, stderr = self._run(*self._manager.install, *names, check=False)
        if status:
            gone = would_remove(stdout)
            msg = f"{', '.join(names)} would remove {', '.join(gone)}, which was here before"
            fix = "; remove it, or let the role do without"
            said = msg + fix if gone else stderr.strip() or stdout.strip()
            self._module.fail_json(msg=said, rc=status, stdout=stdout)

    def _needing(self, names: list[str]) -> list[str]:
        found = self._run(*self._manager.try_remove, *names, check=False)
        return self._manager.others(names, *found)

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
                with contextlib.suppress(OSError):  # other files of VAS are there
                    self._path.parent.rmdir()
            return
        make_directories(self._path.parent)
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
