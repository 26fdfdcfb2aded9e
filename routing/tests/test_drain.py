"""`vas route drain` where the node is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from site_map import site

from vas_core.errors import VasError
from vas_routing import observe
from vas_routing.commands import route
from vas_routing.links import Leg


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Of a machine that has no interface of the map's."""
    monkeypatch.setattr(observe, "devices", dict)
    file = tmp_path / "map.yaml"
    file.write_text(site().model_dump_json(exclude_none=True))
    state = str(tmp_path / "state")
    return ["--cluster", str(file), "--node", "vm1", "--state", state]


@pytest.mark.parametrize("leg", list(Leg))
def test_a_leg_that_is_not_here_is_not_drained(tmp_path: Path, words: list[str], leg: Leg) -> None:
    done = CliRunner().invoke(route, ["drain", leg.value, *words])
    assert isinstance(done.exception, VasError), done.output
    assert "no such interface here" in str(done.exception)
    assert not (tmp_path / "state").exists()


def test_a_leg_that_has_gone_meanwhile_is_given_back(words: list[str]) -> None:
    assert CliRunner().invoke(route, ["drain", "sriov", "--undo", *words]).exception is None
