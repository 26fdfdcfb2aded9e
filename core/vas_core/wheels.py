"""Builds VAS and the libraries that it pins as wheels, for machines that reach no package index."""

from __future__ import annotations

import sys
from pathlib import Path

from vas_core.process import run
from vas_core.repository import REPOSITORY

NODE_LOCK = REPOSITORY / "core/locks/python-node.txt"
# What libraries are built for: Rocky 9's glibc, the oldest that VAS runs on, is 2.34.
_PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")


def gather_wheels(directory: Path, python: str) -> list[Path]:
    """Writes VAS and its libraries as wheels for a Python of that version (`3.11`).

    The libraries come from the package index; one whose SHA-256 is not the lock's is refused.
    Returns all wheels in `directory`, sorted. Raises VasError if pip fails.
    """
    pip = (sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "-q")
    words = ["--only-binary=:all:", "--python-version", python, "--dest", str(directory)]
    words += [word for platform in _PLATFORMS for word in ("--platform", platform)]
    run([*pip, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", directory, REPOSITORY])
    run([*pip, "download", *words, "--no-deps", "--require-hashes", "-r", NODE_LOCK])
    return sorted(directory.glob("*.whl"))
