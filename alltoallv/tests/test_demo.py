"""The command `vas a2av demo`: packets between nodes that are namespaces."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path

import pytest

from vas_a2av.building import OPEN_MPI, is_installed
from vas_a2av.demo_network import LOCK, four_nodes
from vas_core.cli import run_command
from vas_core.process import run

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may make network namespaces"),
]


@pytest.mark.long
@pytest.mark.timeout(900)
def test_leaders_send_a_twelfth_of_linears_packets_between_nodes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """CPU seconds are told, and decide nothing: they depend on what else the machine does."""
    if not is_installed(OPEN_MPI):
        pytest.skip(f"Open MPI is not installed: apt-get install {OPEN_MPI.package}")
    assert run_command(["a2av", "demo", "--rounds", "3", "--calls", "100", "--json"]) == 0
    costs = {each["algorithm"]: each for each in json.loads(capsys.readouterr().out)}
    packets = {name: cost["packets"] for name, cost in costs.items()}
    assert packets["sloav2x"] <= packets["linear"] / 12
    assert packets["sloav2x"] < packets["sloav2"] < packets["linear"]
    assert all(len(cost["rounds"]) == 3 and cost["cpu_seconds"] > 0 for cost in costs.values())
    assert all((cost["machines"], cost["crowded"]) == (4, _is_crowded()) for cost in costs.values())
    assert "vas-a2av" not in run(["ip", "netns"]).stdout


def _is_crowded() -> bool:
    return (os.cpu_count() or 1) < 4


@pytest.mark.machine
def test_two_demos_take_turns(tmp_path: Path) -> None:
    with four_nodes(tmp_path), LOCK.open("w") as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    with LOCK.open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
