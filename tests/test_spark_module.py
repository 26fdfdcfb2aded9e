"""Spark's map output on Lustre: the module's own tests, which run real Spark in the JVM.

Maven builds it only by its profile, as it fetches Spark (300 MB) first.
"""

from __future__ import annotations

import os
import shutil

import pytest

from vas_core.process import run
from vas_core.repository import REPOSITORY

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.long,
    pytest.mark.slow,
    pytest.mark.timeout(1800),
    pytest.mark.skipif(shutil.which("mvn") is None, reason="no mvn (package maven)"),
]
_REPORTS = REPOSITORY / "yarn-plugins/spark/target/surefire-reports"


def test_the_module_of_spark() -> None:
    shutil.rmtree(_REPORTS, ignore_errors=True)
    pom = str(REPOSITORY / "yarn-plugins/pom.xml")
    tests = ("-Dtest=org.apache.spark.shuffle.vas.*Test", "-Dsurefire.failIfNoSpecifiedTests=false")
    words = ("-B", "-ntp", "-q", "-f", pom, "-P", "spark", "-pl", "spark", "-am", *tests, "verify")
    run(["mvn", *words], env=dict(os.environ))
    passed = sorted(file.stem for file in _REPORTS.glob("TEST-*.xml"))
    assert len(passed) == 7, passed
