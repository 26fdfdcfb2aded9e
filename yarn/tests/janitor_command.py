"""The janitor's command, as the tests call it."""

from __future__ import annotations

from pathlib import Path

from fake_rm import FakeRm

from vas_core.cli import run_command


def gc(rm: FakeRm, staging: Path, *more: str) -> int:
    """Runs `vas shuffle gc` on a staging directory with more options; returns its status."""
    options = ["--staging", str(staging), "--resourcemanager", rm.url, *more]
    return run_command(["shuffle", "gc", *options])
