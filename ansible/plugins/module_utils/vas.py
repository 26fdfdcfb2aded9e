"""Shared by the modules: calls `vas` and reads its JSON; makes directories. Python 3.9."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

DONE, DIFFERENT = 0, 3
PROGRAM = {"type": "path", "default": "/usr/bin/vas"}
PLANNED = {"type": "dict", "default": {}}


def take_planned(module: Any) -> None:
    """In check mode, replaces options that name files by files with their planned content.

    An earlier task of the run would write that content; otherwise a module would judge by the
    node's old files, or find none.
    """
    if not module.check_mode:
        return
    for option, text in module.params["planned"].items():
        file = Path(module.tmpdir) / option
        file.write_text(text)
        module.params[option] = str(file)


def is_there(module: Any) -> bool:
    """Returns whether the node has vas: not before its installation, nor after its removal."""
    return os.access(module.params["program"], os.X_OK)


def ask(module: Any, arguments: list[str], accepted: tuple[int, ...] = (DONE,)) -> tuple[int, Any]:
    """Returns exit status and JSON of `vas ARGUMENTS --json`.

    Fails the module for a status that is not in `accepted`, or for output that is not JSON.
    """
    argv = [module.params["program"], *arguments, "--json"]
    status, stdout, stderr = module.run_command(argv)
    if status not in accepted:
        module.fail_json(msg=stderr.strip() or stdout.strip(), cmd=argv, rc=status)
    try:
        return status, json.loads(stdout)
    except ValueError:
        module.fail_json(msg="vas did not print JSON", cmd=argv, stdout=stdout, stderr=stderr)


def options(given: dict[str, Any]) -> list[str]:
    """Returns `--key=value` for each option that is neither None nor empty."""
    return [f"--{key}={value}" for key, value in given.items() if value not in (None, "")]


def make_directories(path: Path) -> None:
    """Creates a directory and its parents with mode 0755, whatever the umask of the login is.

    Existing directories stay as they are.
    """
    if path.is_dir():
        return
    make_directories(path.parent)
    path.mkdir(exist_ok=True)
    path.chmod(0o755)
