"""The janitor's files for Prometheus: one for each staging directory, after a run that ended."""

from __future__ import annotations

import time
from pathlib import Path

from fake_rm import FakeRm
from janitor_command import gc
from map_output import JOB

from vas_core.cli import run_command


def test_a_run_that_comes_to_its_end_says_so_to_prometheus(rm: FakeRm, staging: Path) -> None:
    file = staging.parent / "janitor.prom"
    rm.over(JOB, hours_ago=25)
    assert gc(rm, staging, "--metrics", str(file), "--dry-run") == 0
    assert not file.exists()
    before = time.time()
    assert gc(rm, staging, "--metrics", str(file)) == 0
    found = {line.rpartition(" ")[0]: line.rpartition(" ")[2] for line in lines_of(file)}
    assert (
        before
        <= float(found[f'vas_janitor_last_end_seconds{{staging="{staging}"}}'])
        <= time.time()
    )
    assert float(found[_verdict(staging, "quarantine")]) == 1
    assert float(found[_verdict(staging, "delete")]) == 0
    assert float(found[f'vas_janitor_failed{{staging="{staging}"}}']) == 0
    assert file.stat().st_mode & 0o777 == 0o644


def test_a_run_without_an_active_resourcemanager_leaves_the_old_time(
    rm: FakeRm, staging: Path
) -> None:
    file = staging.parent / "janitor.prom"
    file.write_text("vas_janitor_last_end_seconds 1\n")
    words = ["--staging", str(staging), "--resourcemanager", "http://127.0.0.1:1"]
    assert run_command(["shuffle", "gc", *words, "--metrics", str(file)]) == 1
    assert file.read_text() == "vas_janitor_last_end_seconds 1\n"


def test_files_of_several_staging_directories_have_no_series_in_common(
    rm: FakeRm, staging: Path
) -> None:
    """A node exporter that reads one series in two files refuses all of its files."""
    other = staging.with_name("other")
    other.mkdir(mode=staging.stat().st_mode & 0o7777)
    series: list[set[str]] = []
    for root in (staging, other):
        file = staging.parent / f"{root.name}.prom"
        assert gc(rm, root, "--metrics", str(file)) == 0
        series.append({line.rpartition(" ")[0] for line in lines_of(file)})
    assert all(series)
    assert not series[0] & series[1]


def _verdict(staging: Path, verdict: str) -> str:
    return f'vas_janitor_directories{{staging="{staging}",verdict="{verdict}"}}'


def lines_of(file: Path) -> list[str]:
    return [line for line in file.read_text().splitlines() if not line.startswith("#")]
