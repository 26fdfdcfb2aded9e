"""Finds the jars that `vas build` makes and fetches, for labs, images and playbooks."""

from __future__ import annotations

from pathlib import Path

from vas_core.errors import NotHere
from vas_core.repository import REPOSITORY

_HADOOP = REPOSITORY / "yarn-plugins/hadoop/target/lib"
_PLUGINS = REPOSITORY / "yarn-plugins/dist/target"
_HINT = "run `vas build`"


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
