"""Builds command lines that make a lab's namespaces, or enter them or a node. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path


def in_new_namespaces(user_namespace: bool, argv: Sequence[str]) -> list[str]:
    """Returns a command line that runs a program as PID 1 of new namespaces, which end with it."""
    user = ["--user", "--map-root-user"] if user_namespace else []
    own = ["--mount", "--pid", "--net", "--uts", "--fork", "--mount-proc", "--kill-child"]
    return ["unshare", *user, *own, "--", *argv]


def into_lab(supervisor: int, user_namespace: bool) -> list[str]:
    """Returns the words (`nsenter ...`) that run a program on the lab's master node, from outside.

    `supervisor` is the process id, outside, of the lab's first process.
    """
    user = ["--user", "--preserve-credentials"] if user_namespace else []
    return ["nsenter", f"--target={supervisor}", *user, "--mount", "--uts", "--net", "--pid", "--"]


def into_node(holder: int | None) -> list[str]:
    """Returns the words that run a program on another node, from the master node.

    `holder` is the process that holds the node's namespaces; None is the master, without words.
    """
    if holder is None:
        return []
    return ["nsenter", f"--target={holder}", "--mount", "--uts", "--net", "--"]


def with_environment(
    variables: Mapping[str, str], directory: Path, argv: Sequence[str]
) -> list[str]:
    """Returns a command line that runs `argv` in a directory and with further variables."""
    settings = [f"{key}={value}" for key, value in variables.items()]
    return ["env", "-C", str(directory), *settings, *argv]
