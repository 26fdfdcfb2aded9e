"""`vas affinity bench`: its JSON, and nothing else, is on stdout."""

from __future__ import annotations

import json
import sys

import pytest

from vas_core.process import run


@pytest.mark.machine
@pytest.mark.unhurried
@pytest.mark.timeout(600)
def test_its_json_has_the_joint_gap() -> None:
    """HiGHS prints a line on the process' own stdout for some of these hosts (seed 0)."""
    words = ["affinity", "bench", "--json", "--instances", "2", "--seed", "0"]
    result = run([sys.executable, "-m", "vas_core", *words])
    found = json.loads(result.stdout)
    assert 0 <= found["joint_gap"] <= 0.01
    assert found["joint"]["instances"] == 1
    assert found["optimality_gap"] <= 0.01
