"""Finds out what this machine's site is to Spark."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from dataclasses import dataclass
from getpass import getuser
from pathlib import Path

from vas_cluster import Cluster, load_site
from vas_core.cli import note
from vas_core.errors import BadInput, VasError
from vas_core.safe_open import Planted, open_own_directory
from vas_core.shown import shown
from vas_core.sizes import parse_size
from vas_yarn.jars import find_spark_jars
from vas_yarn.lint.contradiction import number
from vas_yarn.site_files import JobConfiguration, configuration_directory, machine_configuration
from vas_yarn.site_services import staging_directory
from vas_yarn.spark.containers import ContainerLimits
from vas_yarn.spark.installation import SparkInstallation
from vas_yarn.spark.properties import SparkSite, read_properties
from vas_yarn.spark.words import SubmitWords

_EVENTS = "spark-events"
_STRIPE_KEY, _STRIPE = "vas.lustre.block-size", "128m"
_MOST = "yarn.scheduler.maximum-allocation"
_SIZE_VARIABLE = re.compile(r"\bSPARK_(DRIVER_MEMORY|EXECUTOR_MEMORY|EXECUTOR_CORES)\b")


def read_site(spark: SparkInstallation | None, command: str) -> tuple[SparkSite, str]:
    """Returns what the site is to Spark, and the directory of its Hadoop configuration.

    Raises BadInput without a cluster map or Hadoop's site files, NotHere without VAS's jars; where
    a lab is up, the hint is to run `command` in it.
    """
    cluster, conf = load_site("name it by VAS_CLUSTER", command), machine_configuration(note)
    own_jars = spark.jars.resolve() if spark else None
    shared = own_jars if own_jars and own_jars.is_relative_to(cluster.lustre.mount) else None
    site = SparkSite(
        jars=find_spark_jars(),
        stripe=parse_size(conf.get(_STRIPE_KEY, _STRIPE)),
        events=events_directory(conf, cluster, getuser()),
        shared_jars=shared,
        limits=container_limits(conf, cluster),
    )
    return site, str(configuration_directory())


def events_directory(conf: JobConfiguration, cluster: Cluster, user: str) -> Path:
    """Returns the directory of a user's event logs, in the user's staging directory of jobs."""
    return staging_directory(conf, cluster) / user / ".staging" / _EVENTS


def container_limits(conf: JobConfiguration, cluster: Cluster) -> ContainerLimits:
    """Returns the largest containers that the site's files and its map tell of.

    YARN's own default of a limit is not one: this machine's files need not be those of the
    ResourceManager.
    """
    guests = max((guest.memory_bytes >> 20 for guest in cluster.guests()), default=0)
    return ContainerLimits(
        mib=int(number(conf, f"{_MOST}-mb", 0)) or None,
        vcores=int(number(conf, f"{_MOST}-vcores", 0)) or None,
        node_mib=int(number(conf, "yarn.nodemanager.resource.memory-mb", guests)) or None,
    )


def sizes_are_known(spark: SparkInstallation) -> bool:
    """Returns whether Spark takes its sizes from properties alone that VAS reads too.

    It does not where a variable sets one, here or in `spark-env.sh`.
    """
    try:
        script = (_configuration(spark) / "spark-env.sh").read_text(errors="replace")
    except OSError:
        script = ""
    told = [line for line in script.splitlines() if not line.lstrip().startswith("#")]
    return not any(_SIZE_VARIABLE.search(text) for text in (*os.environ, *told))


def _configuration(spark: SparkInstallation) -> Path:
    return Path(os.environ.get("SPARK_CONF_DIR", spark.home / "conf"))


@dataclass(frozen=True)
class OwnProperty:
    """A value that the user's own file sets, and that file."""

    value: str
    file: Path


def users_properties(spark: SparkInstallation, words: SubmitWords) -> dict[str, OwnProperty]:
    """Returns what the user's own properties files set: key -> value and file.

    As SparkSubmitArguments of Spark 4.2.0 reads them, the first that has a key wins: the file of
    `--properties-file`, those of `--extra-properties-file`, and `spark-defaults.conf`. The last is
    read where the first is not named, or with `--load-spark-defaults`. Raises BadInput if one that
    is named cannot be read.
    """
    named = words.values("--properties-file")[-1:]
    files = [Path(name) for name in (*named, *words.values("--extra-properties-file"))]
    read = [(file, _text(file)) for file in files]
    if not named or words.values("--load-spark-defaults"):
        file = _configuration(spark) / "spark-defaults.conf"
        read.append((file, _text(file) if file.exists() else ""))
    found: dict[str, OwnProperty] = {}
    for file, text in reversed(read):
        set_here = read_properties(text).items()
        found |= {key: OwnProperty(value, file) for key, value in set_here}
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace")
    except OSError as wrong:
        raise BadInput(f"cannot be read: {wrong.strerror}", where=str(file)) from wrong


def make_events_directory(directory: Path) -> None:
    """Makes a user's directory of event logs, for that user alone; one that is there is checked.

    Raises Planted if it, or one of the two above it, is another user's, a link, or open to others;
    VasError if it cannot be made.
    """
    staging, home = directory.parent, directory.parent.parent
    for each in (home, staging, directory):
        with suppress(FileExistsError):
            _make(each)
    status = home.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        raise Planted("is not a directory of this user", where=str(home))
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        hint = f"chmod go-w {shown(home)}"
        raise Planted("may be written by others", where=str(home), hint=hint)
    for each in (staging, directory):
        os.close(open_own_directory(each))


def _make(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        raise
    except OSError as wrong:
        hint = "the site's staging directory is made by its administrator"
        what = f"cannot be made: {wrong.strerror}"
        raise VasError(what, where=str(directory), hint=hint) from wrong
