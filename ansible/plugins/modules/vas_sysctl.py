#!/usr/bin/python
"""The Ansible module `vas_sysctl`: sets kernel parameters and restores their earlier values."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.vas.site.plugins.module_utils.vas import make_directories

DOCUMENTATION = """
module: vas_sysctl
short_description: Set kernel parameters and restore their earlier values
description:
  - Writes parameters to a file that is read at boot and sets them now, after it has recorded
    their earlier values. A parameter that this machine lacks, or that cannot be set, is reported
    and skipped.
options:
  settings:
    description: Parameter -> value, in the notation of C(sysctl).
    type: dict
    default: {}
  file:
    description: Path of the file that is read at boot.
    type: path
    required: true
  state:
    description: C(present) sets the parameters; C(absent) restores their earlier values.
    choices: [present, absent]
    default: present
  record:
    description: Path of the record of earlier values.
    type: path
    default: /var/lib/vas/sysctl.json
attributes:
  check_mode:
    support: full
  diff_mode:
    support: full
author: the VAS project
"""

EXAMPLES = """
- name: Allow large socket buffers
  vas.site.vas_sysctl:
    file: /etc/sysctl.d/60-vas.conf
    settings: {net.core.rmem_max: 16777216}
"""

RETURN = """
missing:
  description: Parameters that this machine lacks, or that cannot be set.
  type: list
  elements: str
  returned: always
"""

_HEAD = "# Written by Ansible; the earlier values are in {record}.\n"


class ProcSys:
    """Reads and writes kernel parameters in `/proc/sys` below a root directory."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root / "proc/sys"

    def value(self, key: str) -> str | None:
        """Returns a parameter's words joined by blanks; None if it is missing or cannot be set."""
        path = self._root / key.replace(".", "/")
        # In a network namespace some parameters are read-only.
        if not path.exists() or not path.stat().st_mode & stat.S_IWUSR:
            return None
        return " ".join(path.read_text().split())

    def set(self, key: str, value: str) -> None:
        """Sets a parameter to a value. Raises OSError if the kernel refuses."""
        (self._root / key.replace(".", "/")).write_text(value)


class SysctlParameters:
    """The parameters that VAS sets: file for the boot, record of earlier values, kernel."""

    def __init__(self, file: Path, record: Path, kernel: ProcSys, *, check_mode: bool) -> None:
        self._file, self._record, self._kernel = file, record, kernel
        self._check_mode = check_mode

    def hold(self, settings: dict[str, str]) -> dict[str, Any]:
        """Sets parameters and restores those that earlier runs set and `settings` lacks.

        Returns `changed`, `missing` (parameters that cannot be set) and `diff`.
        """
        before = self._remembered()
        now = {key: self._kernel.value(key) for key in {*settings, *before}}
        wanted = {key: value for key, value in settings.items() if now[key] is not None}
        wanted |= {key: value for key, value in before.items() if key not in settings}
        going = {k: v for k, v in wanted.items() if now[k] is not None and now[k] != v}
        kept = {k: before.get(k, now[k]) for k in settings if now[k] is not None}
        text = self._text(settings)
        changed = bool(going) or text != self._read(self._file) or kept != before
        if changed and not self._check_mode:
            self._write(
                self._record, json.dumps({**before, **kept}, indent=1) if kept or before else ""
            )
            self._write(self._file, text)
            for key, value in going.items():
                self._kernel.set(key, value)
            self._write(self._record, json.dumps(kept, indent=1) if kept else "")
        lines = {"before": self._lines(going, now), "after": self._lines(going, wanted)}
        missing = sorted(key for key in settings if now[key] is None)
        return {"changed": changed, "missing": missing, "diff": lines}

    def _text(self, settings: dict[str, str]) -> str:
        lines = "".join(f"{key} = {settings[key]}\n" for key in sorted(settings))
        return _HEAD.format(record=self._record) + lines if settings else ""

    def _lines(self, keys: dict[str, str], values: dict[str, Any]) -> str:
        return "".join(f"{key} = {values[key]}\n" for key in sorted(keys))

    def _remembered(self) -> dict[str, str]:
        return dict(json.loads(self._read(self._record) or "{}"))

    def _read(self, path: Path) -> str:
        return path.read_text() if path.exists() else ""

    def _write(self, path: Path, text: str) -> None:
        if not text:
            path.unlink(missing_ok=True)
            return
        make_directories(path.parent)
        temporary = path.with_name(f".{path.name}.new")
        with temporary.open("w") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.chmod(0o644)
        temporary.rename(path)


def main() -> None:
    module = AnsibleModule(
        argument_spec={
            "settings": {"type": "dict", "default": {}},
            "file": {"type": "path", "required": True},
            "state": {"choices": ["present", "absent"], "default": "present"},
            "record": {"type": "path", "default": "/var/lib/vas/sysctl.json"},
        },
        supports_check_mode=True,
    )
    given = module.params["settings"] if module.params["state"] == "present" else {}
    settings = {key: " ".join(str(value).split()) for key, value in given.items()}
    file, record = Path(module.params["file"]), Path(module.params["record"])
    parameters = SysctlParameters(file, record, ProcSys(), check_mode=module.check_mode)
    try:
        found = parameters.hold(settings)
    except OSError as wrong:
        module.fail_json(msg=f"{wrong.filename}: {wrong.strerror}")
    for key in found["missing"]:
        module.warn(f"this machine has no {key} that can be set")
    module.exit_json(**found)


if __name__ == "__main__":
    main()
