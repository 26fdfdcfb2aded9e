"""Finds out what this machine's site is to Spark."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from getpass import getuser
from pathlib import Path

from vas_cluster import Cluster, load_site
from vas_core.cli import note
from vas_core.errors import BadInput, VasError
from vas_core.safe_open import Planted, open_own_directory
from vas_core.shown import shown
from vas_core.sizes import parse_size
from vas_yarn.jars import find_spark_jars
from vas_yarn.site_files import JobConfiguration, configuration_directory, machine_configuration
from vas_yarn.site_services import staging_directory
from vas_yarn.spark.installation import SparkInstallation
from vas_yarn.spark.properties import SparkSite, named_properties_file, read_properties

_EVENTS = "spark-events"
_STRIPE_KEY, _STRIPE = "vas.lustre.block-size", "128m"


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
    )
    return site, str(configuration_directory())


def events_directory(conf: JobConfiguration, cluster: Cluster, user: str) -> Path:
    """Returns the directory of a user's event logs, in the user's staging directory of jobs."""
    return staging_directory(conf, cluster) / user / ".staging" / _EVENTS


def users_properties(spark: SparkInstallation, words: Sequence[str]) -> tuple[Path, dict[str, str]]:
    """Returns the user's own properties file and what it sets: empty where it is not there.

    That is the file of `--properties-file` among spark-submit's `words`, which Spark reads in place
    of `spark-defaults.conf`. Raises BadInput if it cannot be read.
    """
    named = named_properties_file(words)
    directory = Path(os.environ.get("SPARK_CONF_DIR", spark.home / "conf"))
    file = Path(named) if named else directory / "spark-defaults.conf"
    try:
        return file, read_properties(file.read_text(errors="replace"))
    except OSError as wrong:
        if isinstance(wrong, FileNotFoundError) and not named:
            return file, {}
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
