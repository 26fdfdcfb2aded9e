"""Runs `vas` commands inside a lab, as a user of it would."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from vas_lab.lab import Lab

VAS = [sys.executable, "-m", "vas_core"]


def vas(lab: Lab, *arguments: str, node: str | None = None) -> str:
    """Runs a `vas` command on a node of the lab and returns what it printed.

    Raises CommandFailed if its status is not 0. The default node is the ResourceManager's.
    """
    return lab.call([sys.executable, "-m", "vas_core", *arguments], node=node).stdout


def vas_json(lab: Lab, *arguments: str, node: str | None = None) -> Any:
    """Runs a `vas` command on a node of the lab and returns the JSON that it printed.

    Raises CommandFailed if its status is not 0.
    """
    return json.loads(vas(lab, *arguments, "--json", node=node))


def inside(lab: Lab, *parts: str) -> Path:
    """Returns the path of `parts` below the lab's Lustre mount, as programs in the lab see it."""
    return Path(lab.spec.cluster.lustre.mount).joinpath(*parts)


def history(lab: Lab, path: str) -> Any:
    """Returns the JSON that the lab's JobHistoryServer answers at a path of its REST interface.

    Raises CommandFailed if it does not answer.
    """
    return _read(lab, f"19888/ws/v1/history/{path}")


def resource_manager(lab: Lab, path: str) -> Any:
    """Returns the JSON that the lab's ResourceManager answers at a path of its REST interface.

    Raises CommandFailed if it does not answer.
    """
    return _read(lab, f"8088/ws/v1/cluster/{path}")


def _read(lab: Lab, port_and_path: str) -> Any:
    read = "import sys, urllib.request as u; sys.stdout.buffer.write(u.urlopen(sys.argv[1]).read())"
    master = lab.spec.cluster.yarn.resourcemanager.name
    url = f"http://{master}:{port_and_path}"
    return json.loads(lab.call([sys.executable, "-c", read, url]).stdout)


def labs_in(directory: Path) -> dict[str, str]:
    """Returns the environment variables that make `vas lab` keep its labs in that directory."""
    return {**os.environ, "VAS_LABS": str(directory)}


def vas_lab(lab: Lab, command: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Runs `vas lab COMMAND` for a running lab, from `/`, and returns how it ended."""
    argv = [*VAS, "lab", command, "--name", lab.spec.name, *words]
    env = labs_in(lab.spec.state_dir.parent)
    return subprocess.run(argv, env=env, cwd="/", check=False, capture_output=True, text=True)
