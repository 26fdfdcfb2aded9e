"""Apache Tez on a site that need not have it: its jars and history in the session's directory."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable
from pathlib import Path

from vas_bench.run.tez import arm_on, job_properties
from vas_yarn.jobs.systems import Arm

_JARS = "tez/lib"
HISTORY = "tez/history"
"""The directory below it where Tez's application masters write what they did."""
_LOGGER = "org.apache.tez.dag.history.logging.impl.SimpleHistoryLoggingService"
_MAPREDUCE = re.compile(r"hadoop-mapreduce-client-(common|core)-\d(?!.*-(tests|sources)).*\.jar")


def jars_of(class_path: Iterable[Path]) -> list[Path]:
    """Returns the jars of a Hadoop that Tez runs MapReduce's jobs with.

    A site's `yarn.application.classpath` need not have them; Tez's own minimal archive has.
    """
    return [jar for jar in class_path if _MAPREDUCE.fullmatch(jar.name)]


def stage(directory: Path, jars: Iterable[Path]) -> None:
    """Puts the jars where YARN takes them from, for every container."""
    target = directory / _JARS
    target.mkdir(parents=True)
    for jar in jars:
        shutil.copyfile(jar, target / jar.name)


def staged_arm(jars: tuple[Path, ...], directory: str) -> Arm:
    """The site's jobs on Tez: its own JVM flags, heaps and container sizes."""
    properties = job_properties(f"{directory}/{HISTORY}") | {
        "tez.history.logging.service.class": _LOGGER,
        # A path of the default file system, from where the jars come into each container's
        # own directory.
        "tez.lib.uris": f"{directory}/{_JARS}",
    }
    return arm_on(properties, jars)
