"""The command line that enters a lab."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vas_lab.lab import Lab
from vas_lab.sites import lab_site_yaml
from vas_lab.spec import LabSpec
from vas_lab.state import Running


def test_vas_is_on_path_in_a_lab_and_named_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAS_PROGRAM", "./vas")
    spec = LabSpec(
        name="x",
        state_dir=tmp_path,
        hadoop_lib=tmp_path,
        plugin_jar=None,
        java_home=tmp_path,
        user_namespace=True,
    )
    spec.cluster_file.write_text(lab_site_yaml(2))
    spec.holders_file.write_text("{}")
    spec.environment_file.write_text('{"PATH": "/run/vas/lustre/bin:/usr/bin"}')
    entered = Lab(spec, Running(supervisor=7, started=0, up_seconds=1), None).enter(["vas"])
    assert f"PATH=/run/vas/lustre/bin:/usr/bin:{Path(sys.executable).parent}" in entered
    assert "VAS_PROGRAM=vas" in entered
