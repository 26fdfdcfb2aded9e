"""Lets the tests of this folder import what they share, and gives the janitor's a site."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fake_rm import FakeRm, running
from map_output import JOB, publish


@pytest.fixture
def rm() -> Iterator[FakeRm]:
    with running() as manager:
        yield manager


@pytest.fixture
def staging(tmp_path: Path) -> Path:
    root = tmp_path / "staging"
    publish(root / "ann" / ".staging" / JOB, 0, [100])
    (root / "history" / "done").mkdir(parents=True)
    return root
