"""How a lab gets its namespaces, and a program into them and onto a node: command lines. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def in_new_namespaces(user_namespace: bool, argv: Sequence[str]) -> list[str]:
    """A program as PID 1 of namespaces of its own, which end with it or with this command."""
    user = ["--user", "--map-root-user"] if user_namespace else []
    own = ["--mount", "--pid", "--net", "--uts", "--fork", "--mount-proc", "--kill-child"]
    return ["unshare", *user, *own, "--", *argv]


def into_lab(supervisor: int, user_namespace: bool) -> list[str]:
    """From outside, into the namespaces of the supervisor: the lab's master node."""
    user = ["--user", "--preserve-credentials"] if user_namespace else []
    return ["nsenter", f"--target={supervisor}", *user, "--mount", "--uts", "--net", "--pid", "--"]


def into_node(holder: int | None) -> list[str]:
    """From the master node onto another one, held by a process; None is the master itself."""
    if holder is None:
        return []
    return ["nsenter", f"--target={holder}", "--mount", "--uts", "--net", "--"]


def with_environment(
    variables: Mapping[str, str], directory: Path, argv: Sequence[str]
) -> list[str]:
    """The command in a directory and with variables that hold inside a lab only."""
    settings = [f"{key}={value}" for key, value in variables.items()]
    return ["env", "-C", str(directory), *settings, *argv]
