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


_POM = str(REPOSITORY / "yarn-plugins/pom.xml")
_MAVEN = ("mvn", "-B", "-ntp", "-q", "-f", _POM, "-P", "spark", "-pl", "spark", "-am")


# Before the module's own tests, which leave classes for the Spark that VAS brings.
@pytest.mark.parametrize("version", ["4.0.1", "4.1.1"])
def test_the_module_compiles_with_an_older_spark(version: str) -> None:
    run([*_MAVEN, f"-Dspark.version={version}", "-Dmaven.test.skip=true", "compile"])


def test_the_module_of_spark() -> None:
    shutil.rmtree(_REPORTS, ignore_errors=True)
    tests = ("-Dtest=org.apache.spark.shuffle.vas.*Test", "-Dsurefire.failIfNoSpecifiedTests=false")
    run([*_MAVEN, *tests, "verify"], env=dict(os.environ))
    passed = sorted(file.stem for file in _REPORTS.glob("TEST-*.xml"))
    assert len(passed) == 14, passed
