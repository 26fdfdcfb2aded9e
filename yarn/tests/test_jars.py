"""Where the jars of `vas accept` are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_core.errors import NotHere
from vas_yarn import jars


def test_the_jars_of_accept_are_a_clones_own_else_the_installed_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jars, "_MODULES", tmp_path / "clone")
    installed = tmp_path / "accept"
    with pytest.raises(NotHere, match=r"vas-workloads-\*\.jar is not there"):
        jars.find_accept_jar("vas-workloads", installed)

    installed.mkdir()
    (installed / "vas-workloads-1.jar").touch()
    assert jars.find_accept_jar("vas-workloads", installed).parent == installed

    target = tmp_path / "clone/workloads/target"
    target.mkdir(parents=True)
    (target / "vas-workloads-2.jar").touch()
    assert jars.find_accept_jar("vas-workloads", installed).parent == target
