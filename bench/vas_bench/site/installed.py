"""Versions on the machine that jobs are submitted from."""

from __future__ import annotations

import os
import re
from pathlib import Path

from vas_bench.results.environment import build_of, lab_versions
from vas_bench.run.workloads_jar import workloads_jar
from vas_bench.site.place import class_path
from vas_core.errors import NotHere

_PLUGINS = re.compile(r"vas-yarn-plugins-.*\.jar")


def versions() -> dict[str, str]:
    """Returns the versions of Hadoop, Java and VAS, and the build of its plugins."""
    jars = class_path()
    core = next((jar.parent for jar in jars if jar.name.startswith("hadoop-common-")), Path())
    plugins = [jar for jar in jars if _PLUGINS.fullmatch(jar.name)]
    java = Path(os.environ.get("JAVA_HOME", "/usr"))
    return lab_versions(core, java) | {"plugins": build_of(*plugins, *_own_jobs())}


def _own_jobs() -> list[Path]:
    """The jar of the project's own jobs: a clone has it built, an installed VAS has none."""
    try:
        return [workloads_jar()]
    except NotHere:
        return []
