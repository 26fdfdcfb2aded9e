"""Counts the files of a job's map output: the product's collector in Hadoop's MapTask.

1,000 map tasks in a lab would take an hour, nearly all of it JVMs starting. Here one JVM runs
them one after another: the same collector, the same file system class, real files, on a directory
that is not Lustre. What is on the disk after each attempt must be what its counters say.
"""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from vas_bench.run.own_jobs import workloads_jar
from vas_bench.shuffle.goals import GoalRow
from vas_core.process import run
from vas_lab.sites import lab_site_yaml
from vas_lab.spec import find_java
from vas_yarn.jars import find_hadoop, find_plugins

REDUCERS = 200
_MAIN = "org.vas.workloads.files.CreatedFiles"


@dataclass(frozen=True)
class OutputLayout:
    """A layout of map output: the most files that an attempt may create, and an attempt's seconds.

    `limit` is the goal: the most files. A layout without a goal has None.
    """

    limit: float | None
    seconds: float


LAYOUTS = {"packed": OutputLayout(2, 0.02), "per-reducer": OutputLayout(None, 0.1)}


@dataclass(frozen=True)
class FileCount:
    """The files of some map attempts: those on the disk, and those that counters report."""

    maps: int
    files: int
    counted: int


def count_files(layout: str, maps: int, directory: Path) -> FileCount:
    """Runs that many attempts, each with a record for every reducer, in a temporary directory.

    Raises VasError when one fails.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory, prefix="files-") as name:
        site = Path(name) / "cluster.yaml"
        site.write_text(lab_site_yaml(1), encoding="utf-8")
        classpath = f"{workloads_jar()}:{find_hadoop()}/*:{find_plugins()}"
        flags = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", classpath)
        words = (_MAIN, str(maps), str(REDUCERS), layout, name)
        env = {**os.environ, "VAS_CLUSTER": str(site)}
        done = run([find_java() / "bin/java", *flags, *words], env=env)
    # Hadoop's log may go to stdout too: the result is the last line.
    return FileCount(**json.loads(done.stdout.splitlines()[-1]))


def file_row(layout: str, found: FileCount) -> GoalRow:
    """Returns the row of files per map attempt; invalid when the counters differ."""
    name = f"files per map attempt, {layout}, {found.maps} maps x {REDUCERS} reducers"
    limit = LAYOUTS[layout].limit
    if found.files != found.counted:
        wrong = f"{found.files} files on the disk, {found.counted} in the counters"
        return GoalRow(name, None, None, found.maps, limit, invalid=wrong)
    each = found.files / found.maps
    return GoalRow(name, each, (each, each), found.maps, limit)
