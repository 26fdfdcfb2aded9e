"""Names the folder that VAS runs from (its clone), and the folders of labs."""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
NEEDS_CLONE = "run it as ./vas in a clone, or in the unpacked source of a release"
"""The fix for a command that works on files of the clone and was installed from a wheel."""


def is_clone(directory: Path = REPOSITORY) -> bool:
    """Returns whether VAS runs from its sources; an installed wheel does not."""
    return (directory / "pyproject.toml").exists()


def labs_directory() -> Path:
    """The folder of labs and of what benchmarks learn: $VAS_LABS, else build/lab in the clone."""
    return Path(os.environ.get("VAS_LABS") or REPOSITORY / "build/lab").absolute()


def state_directory(name: str) -> Path:
    """The folder of one lab, or of one benchmark's knowledge about a site, by its name."""
    return labs_directory() / name
