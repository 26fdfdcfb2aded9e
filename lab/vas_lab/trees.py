"""Files of jobs, below the lab's mount."""

from __future__ import annotations

from pathlib import Path

from vas_lab.lab import Lab


def inside(lab: Lab, path: str) -> Path:
    """Where a path, as jobs write it, is for programs in the lab."""
    return Path(lab.spec.cluster.lustre.mount) / path.lstrip("/")


def remove_tree(lab: Lab, path: str) -> None:
    """Removes what is there, if anything is."""
    lab.call(["rm", "-rf", "--", str(inside(lab, path))])
