"""Apache Tez, for comparison: its jars, and what every MapReduce job on it is told."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

from vas_core.errors import VasError
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_yarn.jobs.systems import Arm

_PLUGINS = REPOSITORY / "yarn-plugins"
_TARGET = _PLUGINS / "tez/target"
_VERSION = re.compile(r"<tez\.version>([^<]+)</")
NAME = "Tez"


def tez_version() -> str:
    """Returns Tez's version, which the plugins' POM pins."""
    found = _VERSION.search((_PLUGINS / "pom.xml").read_text())
    assert found, "yarn-plugins/pom.xml: no property tez.version"
    return found[1]


def tez_jars() -> tuple[Path, ...]:
    """Returns Tez's jars and those that it needs besides Hadoop's; none before they are fetched."""
    lib = _TARGET / "lib"
    is_there = (lib / f"tez-dag-{tez_version()}.jar").is_file()
    return tuple(sorted(lib.glob("*.jar"))) if is_there else ()


def fetch_tez(say: Callable[[str], None]) -> tuple[Path, ...]:
    """Returns Tez's jars, from Maven Central if need be. Raises VasError when that fails."""
    if not tez_jars():
        say(f"fetching Apache Tez {tez_version()} from Maven Central, to measure against (7 MB)")
        shutil.rmtree(_TARGET, ignore_errors=True)
        argv = ["mvn", "-q", "-B", "-f", str(_PLUGINS / "pom.xml"), "-P", "tez", "-pl", "tez"]
        # The repository that ./vas compared with the record, if it did.
        if compared := os.environ.get("VAS_MAVEN_REPOSITORY"):
            argv.append(f"-Dmaven.repo.local={compared}")
        run([*argv, "package"])
    if not tez_jars():
        raise VasError("Maven brought no Tez", where=str(_TARGET))
    return tez_jars()


def job_properties(history: str) -> dict[str, str]:
    """Returns the properties of every MapReduce job on Tez, which writes its history there."""
    return {
        "mapreduce.framework.name": "yarn-tez",
        "tez.use.cluster.hadoop-libs": "true",
        # Its servlets are Jersey 1's, and Hadoop's Jersey 2: the application master would hang.
        "tez.am.tez-ui.webservice.enable": "false",
        "tez.am.container.reuse.enabled": "true",
        "tez.simple.history.logging.dir": history,
        "tez.am.sleep.time.before.exit.millis": "1000",
    }


def arm_on(properties: Mapping[str, str], jars: tuple[Path, ...]) -> Arm:
    """Returns the arm of jobs on Tez, with these properties, and these jars for their clients."""
    return Arm("tez", NAME, f"Apache Tez {tez_version()}, containers used again", properties, jars)
