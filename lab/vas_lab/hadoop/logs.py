"""Finds the logs that a lab leaves in its directory."""

from __future__ import annotations

from pathlib import Path


def known_logs(state_dir: Path) -> dict[str, Path]:
    """Returns log name -> file: one for each daemon and job client, and the supervisor's."""
    files = [*sorted((state_dir / "logs").glob("*.log")), state_dir / "supervisor.log"]
    return {path.stem: path for path in files if path.is_file()}
