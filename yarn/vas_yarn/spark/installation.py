"""Finds Spark on a machine, and puts it beside a clone for its lab."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput, NotHere
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_yarn.jars import find_spark_shuffle, is_older_than_source
from vas_yarn.spark.fetching import install_by_pip

OF_CLONE = REPOSITORY / "build/spark"
_LOCKS = REPOSITORY / "core/locks"
_PLUGINS = REPOSITORY / "yarn-plugins"
_SUBMIT = "bin/spark-submit"


@dataclass(frozen=True)
class SparkInstallation:
    """A Spark: its SPARK_HOME, and how it was found."""

    home: Path
    why: str

    @property
    def submit(self) -> Path:
        """Returns the path of `spark-submit`."""
        return self.home / _SUBMIT

    @property
    def python(self) -> Path:
        """Returns the Python that Spark was installed into by pip, else `python3` of PATH."""
        if self.home.parent.name == "site-packages":
            return self.home.parents[3] / "bin/python3"
        return Path("python3")

    @property
    def jars(self) -> Path:
        """Returns the directory of Spark's own jars."""
        return self.home / "jars"


def find_spark() -> SparkInstallation:
    """Returns the Spark to submit with: $SPARK_HOME, that of `spark-submit` on PATH, the clone's.

    Raises BadInput where SPARK_HOME names no Spark, NotHere where there is none.
    """
    if named := os.environ.get("SPARK_HOME"):
        if not (Path(named) / _SUBMIT).is_file():
            hint = "name the directory that has bin/spark-submit, or unset the variable"
            raise BadInput(f"{named} has no {_SUBMIT}", where="SPARK_HOME", hint=hint)
        return SparkInstallation(Path(named).absolute(), "SPARK_HOME names it")
    if (program := shutil.which("spark-submit")) and (home := _home_of(Path(program))):
        return SparkInstallation(home, "spark-submit on PATH is its own")
    if home := _of_environment(OF_CLONE):
        return SparkInstallation(home, "`vas spark get` put it there")
    hint = "set SPARK_HOME, or `pip install pyspark==4.2.0`; in a clone: `vas spark get`"
    raise NotHere("no Spark: neither SPARK_HOME nor spark-submit on PATH", hint=hint)


def _home_of(program: Path) -> Path | None:
    """The home of a `spark-submit`: above it, or the package of the environment it is in."""
    above = program.resolve().parent.parent
    if (above / "jars").is_dir():
        return above
    return _of_environment(above)


def _of_environment(environment: Path) -> Path | None:
    """The package pyspark of a Python environment, which is a whole SPARK_HOME."""
    found = sorted(environment.glob("lib/python3*/site-packages/pyspark"))
    return next((home for home in found if (home / _SUBMIT).is_file()), None)


def install_spark(say: Callable[[str], None]) -> SparkInstallation:
    """Puts the pinned pyspark beside the clone, builds VAS's jar for it; what is there stays.

    Calls `say` with each step. Raises VasError if a step fails, NotHere without Maven.
    """
    marker = OF_CLONE / ".made-from"
    lock = (_LOCKS / "python-spark.txt").read_text()
    if not (marker.exists() and marker.read_text() == lock):
        say("fetching Spark from PyPI (450 MB; once)")
        run([sys.executable, "-P", "-m", "venv", "--clear", OF_CLONE])
        _pip("fetching Spark", "-r", _LOCKS / "python-spark-build.txt")
        _pip("fetching Spark", "--no-build-isolation", "-r", _LOCKS / "python-spark.txt")
        marker.write_text(lock)
    jar = find_spark_shuffle()
    if jar is None or is_older_than_source(jar):
        say("building VAS's jar for Spark")
        build_jar()
    home = _of_environment(OF_CLONE)
    assert home is not None
    return SparkInstallation(home, "`vas spark get` put it there")


def install_notebook(say: Callable[[str], None]) -> None:
    """Puts the pinned libraries of a notebook beside the clone's Spark; calls `say` first.

    Raises VasError if pip fails.
    """
    say("fetching a notebook's libraries from PyPI")
    _pip("fetching a notebook's libraries", "-r", _LOCKS / "python-notebook.txt")


def _pip(title: str, *words: str | Path) -> None:
    install_by_pip(OF_CLONE / "bin/python", words, title)


def build_jar() -> None:
    """Builds VAS's jar for Spark. Raises CommandFailed, NotHere without Maven."""
    maven = ("mvn", "-B", "-ntp", "-q", "-f", _PLUGINS / "pom.xml", "-P", "spark")
    run([*maven, "-pl", "spark", "-am", "package", "-DskipTests"])
