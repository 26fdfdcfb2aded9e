"""The janitor's systemd units: what systemd itself says of them, and what they may touch."""

from __future__ import annotations

import shutil
from configparser import ConfigParser
from pathlib import Path

import pytest

from vas_core.process import run

UNITS = Path(__file__).parents[1] / "systemd"
SERVICE = "vas-shuffle-gc@.service"
TIMER = "vas-shuffle-gc@.timer"


def read(name: str) -> ConfigParser:
    parser = ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((UNITS / name).read_text())
    return parser


@pytest.mark.machine
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_accepts_them(tmp_path: Path) -> None:
    for name in (SERVICE, TIMER):
        # systemd also checks that the program is there; that it is /usr/bin/vas is the site's.
        text = (UNITS / name).read_text().replace("/usr/bin/vas", shutil.which("true") or "")
        (tmp_path / name).write_text(text)
    said = run(["systemd-analyze", "verify", *(tmp_path / name for name in (SERVICE, TIMER))])
    assert said.stderr == ""


def test_the_service_writes_below_its_staging_directory_only() -> None:
    service = read(SERVICE)["Service"]
    assert service["ProtectSystem"] == "strict"
    assert service["ReadWritePaths"] == "%f"
    metrics = f"/run/{service['RuntimeDirectory']}/%i.prom"
    assert service["ExecStart"] == f"/usr/bin/vas shuffle gc --staging %f --metrics {metrics}"
    assert service["NoNewPrivileges"] == "yes"


def test_the_timer_starts_the_service_of_its_own_name() -> None:
    timer = read(TIMER)
    assert "Unit" not in timer["Timer"]
    assert timer["Install"]["WantedBy"] == "timers.target"
