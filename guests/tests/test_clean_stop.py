"""What the unit vas-clean-stop leaves behind: its own commands, by a real shell."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).parents[1] / "systemd/vas-clean-stop.service"
pytestmark = pytest.mark.machine


def command(key: str, state: Path) -> None:
    """Runs one of the unit's commands as systemd would, with another state directory."""
    (line,) = re.findall(rf"^{key}=(.*)$", UNIT.read_text(), re.M)
    text = line.replace("$$", "$").replace("%%", "%").replace("/var/lib/vas", str(state))
    # Its sync is of the whole machine.
    subprocess.run(shlex.split(text.replace("'sync; ", "'")), check=True)


def test_D1_a_stop_without_a_sync_is_noted_at_the_next_start(tmp_path: Path) -> None:
    command("ExecStartPre", tmp_path)
    os.utime(tmp_path / "up", (1764000000, 1764000000))
    command("ExecStartPre", tmp_path)
    (line,) = (tmp_path / "unclean-stops").read_text().splitlines()
    before, after = line.split()
    assert before == "2025-11-24T16:00:00Z" < after
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", after)


def test_D1_a_stop_that_synced_is_not(tmp_path: Path) -> None:
    for _ in range(2):
        command("ExecStartPre", tmp_path)
        command("ExecStop", tmp_path)
    assert not (tmp_path / "unclean-stops").exists()


def test_D1_a_stop_syncs_first() -> None:
    assert "ExecStop=/bin/sh -euc 'sync; rm -f /var/lib/vas/up'" in UNIT.read_text()


def test_D1_it_syncs_after_the_node_manager_and_before_lustre_is_unmounted() -> None:
    """Stops are in the reverse order of starts; the NodeManager's containers end with it."""
    text = UNIT.read_text()
    assert re.findall(r"^Before=(.*)$", text, re.M) == ["vas-nodemanager.service"]
    assert re.findall(r"^After=(.*)$", text, re.M) == ["local-fs.target remote-fs.target"]
    node_manager = UNIT.parents[2] / "yarn/systemd" / "vas-nodemanager.service"
    # Nothing in the other direction: systemd would break the cycle, and the order with it.
    assert "clean-stop" not in node_manager.read_text()
