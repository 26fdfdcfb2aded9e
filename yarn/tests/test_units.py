"""Units of janitor and vas-jobstats: what systemd says of them, and what they may touch."""

from __future__ import annotations

import shutil
from configparser import ConfigParser
from pathlib import Path

import pytest

from vas_core.process import run

UNITS = Path(__file__).parents[1] / "systemd"
SERVICE = "vas-shuffle-gc@.service"
TIMER = "vas-shuffle-gc@.timer"
JOBSTATS = "vas-jobstats.service"


def read(name: str) -> ConfigParser:
    parser = ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string((UNITS / name).read_text())
    return parser


@pytest.mark.machine
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze here")
def test_systemd_accepts_them(tmp_path: Path) -> None:
    names = (SERVICE, TIMER, JOBSTATS)
    for name in names:
        # systemd also checks that the program is there; that it is /usr/bin/vas is the site's.
        text = (UNITS / name).read_text().replace("/usr/bin/vas", shutil.which("true") or "")
        (tmp_path / name).write_text(text)
    said = run(["systemd-analyze", "verify", *(tmp_path / name for name in names)])
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


def test_who_reads_the_names_of_jobs_has_no_rights_and_no_network() -> None:
    service = read(JOBSTATS)["Service"]
    assert service["DynamicUser"] == service["PrivateNetwork"] == "yes"
    assert service["CapabilityBoundingSet"] == ""
    assert "ProcSubset" not in service  # it would hide /proc/fs
    # Preserved, the directory of such a user is below /run/private, which others cannot enter.
    assert "RuntimeDirectoryPreserve" not in service
    file = f"/run/{service['RuntimeDirectory']}/jobs.prom"
    assert service["ExecStart"] == f"/usr/bin/vas job io --metrics {file} --every 30s"
