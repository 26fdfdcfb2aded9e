#!/usr/bin/python
"""The Ansible module `vas_sysctl`: kernel parameters, and the values they had before."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.vas import make_directories

DOCUMENTATION = """
module: vas_sysctl
short_description: Kernel parameters that go back to what they were
description:
  - Writes parameters to a file that is read at boot and sets them now, after it has written
    down the values that they had. A parameter that this machine does not have, or lets nobody
    set, is said and left.
options:
  settings:
    description: Parameter and value, as C(sysctl) has them.
    type: dict
    default: {}
  file:
    description: The file that is read at boot.
    type: path
    required: true
  state:
    description: Whether they are to hold; C(absent) gives back the values before.
    choices: [present, absent]
    default: present
  record:
    description: Where the values before are.
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
  vas_sysctl:
    file: /etc/sysctl.d/60-vas.conf
    settings: {net.core.rmem_max: 16777216}
"""

RETURN = """
missing:
  description: Parameters that this machine does not have, or lets nobody set.
  type: list
  elements: str
  returned: always
"""

_HEAD = "# Written by Ansible; what the values were is in {record}.\n"


class Kernel:
    """`/proc/sys` below a root."""

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root / "proc/sys"

    def value(self, key: str) -> str | None:
        """A parameter's words, a blank between them; None where none so named can be set here."""
        path = self._root / key.replace(".", "/")
        # In a network namespace some are there to be read only.
        if not path.exists() or not path.stat().st_mode & stat.S_IWUSR:
            return None
        return " ".join(path.read_text().split())

    def set(self, key: str, value: str) -> None:
        """Sets a parameter."""
        (self._root / key.replace(".", "/")).write_text(value)


class Parameters:
    """The parameters that VAS sets: the file, the record of what they were, the kernel."""

    def __init__(self, file: Path, record: Path, kernel: Kernel, *, check_mode: bool) -> None:
        self._file, self._record, self._kernel = file, record, kernel
        self._check_mode = check_mode

    def hold(self, settings: dict[str, str]) -> dict[str, Any]:
        """Makes these hold, gives back those that are not among them any more."""
        before = self._remembered()
        now = {key: self._kernel.value(key) for key in {*settings, *before}}
        wished = {key: value for key, value in settings.items() if now[key] is not None}
        wished |= {key: value for key, value in before.items() if key not in settings}
        going = {k: v for k, v in wished.items() if now[k] is not None and now[k] != v}
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
        lines = {"before": self._lines(going, now), "after": self._lines(going, wished)}
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
    parameters = Parameters(file, record, Kernel(), check_mode=module.check_mode)
    try:
        found = parameters.hold(settings)
    except OSError as wrong:
        module.fail_json(msg=f"{wrong.filename}: {wrong.strerror}")
    for key in found["missing"]:
        module.warn(f"this machine has no {key} that can be set")
    module.exit_json(**found)


if __name__ == "__main__":
    main()
