"""VAS and the libraries that it pins, as wheels: what machines install that ask no index."""

from __future__ import annotations

import sys
from pathlib import Path

from vas_core.process import run

_REPOSITORY = Path(__file__).resolve().parents[2]
# What libraries are built for: Rocky 9's glibc, the oldest that VAS runs on, is 2.34.
_PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")


def gather_wheels(directory: Path, python: str) -> list[Path]:
    """Writes them, from the package index, for a Python of that version (`3.11`)."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    words = ["--only-binary=:all:", "--python-version", python, "--dest", str(directory)]
    words += [word for platform in _PLATFORMS for word in ("--platform", platform)]
    run([*pip, "wheel", "--no-deps", "--wheel-dir", directory, _REPOSITORY])
    run([*pip, "download", *words, next(directory.glob("vas-*.whl"))])
    return sorted(directory.glob("*.whl"))
