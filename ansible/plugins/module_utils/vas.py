"""How a module calls `vas`: a list of arguments, its JSON, its exit statuses. Python 3.9.

And what modules share besides.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

DONE, DIFFERENT = 0, 3
PROGRAM = {"type": "path", "default": "/usr/bin/vas"}
PLANNED = {"type": "dict", "default": {}}


def take_planned(module: Any) -> None:
    """In check mode: files that this run would write before, from what is planned to be in them.

    Without them a module would judge by the node's old ones, or find none.
    """
    if not module.check_mode:
        return
    for option, text in module.params["planned"].items():
        file = Path(module.tmpdir) / option
        file.write_text(text)
        module.params[option] = str(file)


def is_there(module: Any) -> bool:
    """Whether the node has the program: not yet, in check mode, and not any more after it went."""
    return os.access(module.params["program"], os.X_OK)


def ask(module: Any, arguments: list[str], accepted: tuple[int, ...] = (DONE,)) -> tuple[int, Any]:
    """Exit status and JSON of `vas ARGUMENTS --json`; ends the module for any other status."""
    argv = [module.params["program"], *arguments, "--json"]
    status, stdout, stderr = module.run_command(argv)
    if status not in accepted:
        module.fail_json(msg=stderr.strip() or stdout.strip(), cmd=argv, rc=status)
    try:
        return status, json.loads(stdout)
    except ValueError:
        module.fail_json(msg="it printed no JSON", cmd=argv, stdout=stdout, stderr=stderr)


def options(given: dict[str, Any]) -> list[str]:
    """`--key=value` for what is given."""
    return [f"--{key}={value}" for key, value in given.items() if value not in (None, "")]


def make_directories(path: Path) -> None:
    """Makes a directory, and those above it, for all to read, whatever the umask of a login is.

    One that is there stays as it is.
    """
    if path.is_dir():
        return
    make_directories(path.parent)
    path.mkdir(exist_ok=True)
    path.chmod(0o755)
