"""Finds the jars that `vas build` makes and fetches, for labs, images and playbooks."""

from __future__ import annotations

from pathlib import Path

from vas_core.errors import NotHere
from vas_core.repository import REPOSITORY

_HADOOP = REPOSITORY / "yarn-plugins/hadoop/target/lib"
_PLUGINS = REPOSITORY / "yarn-plugins/dist/target"
_MODULES = REPOSITORY / "yarn-plugins"
_HINT = "run `vas build`"
_INSTALLED = Path("/usr/lib/vas")
_OF_SPARK = ("layout", "filesystem", "shuffle", "spark")
_SPARK_JAR = "vas-spark-[0-9]*.jar"
ACCEPT_MODULES = {"vas-contract-suites": "contract", "vas-workloads": "workloads"}
"""The jars that `vas accept` runs, by the plugins' module that makes each."""
ON_A_NODE = Path("/usr/lib/vas/accept")
"""Where the role `hadoop` installs the jars that `vas accept` runs."""


def find_hadoop() -> Path:
    """Returns the directory of Hadoop's jars. Raises NotHere before a build."""
    if not any(_HADOOP.glob("hadoop-common-*.jar")):
        raise NotHere("Hadoop's jars are not there", where=str(_HADOOP), hint=_HINT)
    return _HADOOP


def find_plugins() -> Path:
    """Returns the path of the plugins' jar. Raises NotHere before a build."""
    found = sorted(_PLUGINS.glob("vas-yarn-plugins-*.jar"))
    if not found:
        raise NotHere("the plugins are not built", where=str(_PLUGINS), hint=_HINT)
    return found[-1]


def find_accept_jar(name: str, installed: Path = ON_A_NODE) -> Path:
    """Returns the path of a jar of ACCEPT_MODULES: a clone's own, else the one in `installed`.

    Raises NotHere where neither is.
    """
    for directory in (_MODULES / ACCEPT_MODULES[name] / "target", installed):
        if found := sorted(directory.glob(f"{name}-*.jar")):
            return found[-1]
    hint = "in a clone run `vas build`; for a node, `vas provision hadoop` and then site.yml"
    raise NotHere(f"{name}-*.jar is not there", hint=hint)


def find_spark_shuffle() -> Path | None:
    """Returns the path of Spark's shuffle manager in a clone; None before `vas spark get`."""
    found = sorted((_MODULES / "spark/target").glob(_SPARK_JAR))
    return found[-1] if found else None


def is_older_than_source(jar: Path) -> bool:
    """Returns whether a source of the module `spark`, or of one that it needs, is newer."""
    folders = (_MODULES / module / "src/main" for module in _OF_SPARK)
    sources = (file for folder in folders for file in folder.rglob("*") if file.is_file())
    made = jar.stat().st_mtime
    return any(file.stat().st_mtime > made for file in (*sources, _MODULES / "pom.xml"))


def find_spark_jars(installed: Path = _INSTALLED) -> tuple[Path, ...]:
    """Returns what Spark needs on its class paths: the plugins, the shuffle manager, and JNA.

    A clone's own, else those that the role `hadoop` installs. Raises NotHere where one is missing.
    """
    rows = (
        (_PLUGINS, installed / "plugins", "vas-yarn-plugins"),
        (_MODULES / "spark/target", installed / "spark", "vas-spark"),
        (_HADOOP, installed / "hadoop", "jna"),
    )
    return tuple(_newest(f"{name}-[0-9]*.jar", clone, node) for clone, node, name in rows)


def _newest(pattern: str, *directories: Path) -> Path:
    for directory in directories:
        if found := sorted(directory.glob(pattern)):
            return found[-1]
    hint = "in a clone: `vas spark get`; on a site: docs/spark.md"
    raise NotHere(f"{pattern} is not there", where=str(directories[-1]), hint=hint)
