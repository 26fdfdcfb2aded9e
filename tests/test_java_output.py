"""`./vas test` prints the logs of Java tests that failed, and of no others."""

from __future__ import annotations

import os
from pathlib import Path

from vas_tests.java_output import failed_output


def report(plugins: Path, name: str, *, failures: int = 0, errors: int = 0) -> Path:
    directory = plugins / "shuffle/target/surefire-reports"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / f"{name}-output.txt").write_text(f"{name} logged this\n")
    file = directory / f"TEST-{name}.xml"
    file.write_text(f'<testsuite name="{name}" failures="{failures}" errors="{errors}"/>')
    return file


def test_the_output_of_classes_that_failed_is_shown(tmp_path: Path) -> None:
    report(tmp_path, "a.Passed")
    report(tmp_path, "b.Failed", failures=1)
    report(tmp_path, "c.Broken", errors=2)
    os.utime(report(tmp_path, "d.FailedBefore", failures=1), (0, 0))
    logged = [line for line in failed_output(tmp_path, since=1) if not line.startswith("-- ")]
    assert logged == ["b.Failed logged this", "c.Broken logged this"]
