"""How a program gets into a lab, and there onto a node: `nsenter` command lines. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

NODES = Path("/run/vas/nodes")


def into_lab(supervisor: int, user_namespace: bool) -> list[str]:
    """From outside, into the namespaces of the supervisor: the lab's master node."""
    user = ["--user", "--preserve-credentials"] if user_namespace else []
    return ["nsenter", f"--target={supervisor}", *user, "--mount", "--uts", "--net", "--pid", "--"]


def into_node(node: str, master: str) -> list[str]:
    """From the master node, which is also where the supervisor lives, onto another one."""
    if node == master:
        return []
    return ["nsenter", f"--net=/run/netns/{node}", f"--uts={uts(node)}", f"--mount={mnt(node)}", "--"]


def with_environment(variables: Mapping[str, str], directory: Path, argv: Sequence[str]) -> list[str]:
    """The command in a directory and with variables that hold inside a lab only."""
    settings = [f"{key}={value}" for key, value in variables.items()]
    return ["env", "-C", str(directory), *settings, *argv]


def uts(node: str) -> Path:
    """Where a node's UTS namespace (its host name) is held."""
    return NODES / f"{node}.uts"


def mnt(node: str) -> Path:
    """Where a node's mount namespace is held."""
    return NODES / f"{node}.mnt"
