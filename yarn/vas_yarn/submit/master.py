"""Decides whether a job gets VAS's application master, whose containers run several tasks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.reading import read_limited
from vas_yarn.job_jar import BROKEN_JAR, open_jar
from vas_yarn.site_files import JobConfiguration

REUSE_KEY = "vas.containers.reuse"
OPTIONS_KEY = "yarn.app.mapreduce.am.command-opts"
MASTER = "org.vas.app.VasAppMaster"
# mapred-default.xml.
HADOOPS_OPTIONS = "-Xmx1024m"
_WORDS = ("auto", "on", "off")
_CLASS_FILE = f"{MASTER.replace('.', '/')}.class"
_FLAGS_KEY = "yarn.app.mapreduce.am.admin-command-opts"
_FRAMEWORK_KEY = "mapreduce.application.framework.path"
_CLASS_PATH_KEY = "yarn.application.classpath"
_OWN_CLASS_PATH = re.compile(r'(?:^|\s)(?:-cp|-classpath|--class-path)[ \t=]+"?([^"\s]+)')
_MOST_BYTES = 1 << 20
_OUR_JARS = "vas-*.jar"


def wants_warm(conf: JobConfiguration) -> bool:
    """Returns whether a job asks for containers that run several tasks.

    Raises BadInput if the key is not auto, on or off.
    """
    word = conf.get(REUSE_KEY, "off")
    if word not in _WORDS:
        what = f"{word!r} is not auto, on or off"
        raise BadInput(what, where=REUSE_KEY, hint="write one of them")
    return word != "off"


def why_not(conf: JobConfiguration) -> str | None:
    """Returns why a node might not find the class of VAS's master; None if it will find it.

    A job whose master is not found cannot start. Nodes have the class path that the site's files
    name; its jars are looked at on this machine, which has the same release.
    """
    if conf.get(_FRAMEWORK_KEY):
        return f"{_FRAMEWORK_KEY} brings a Hadoop of its own"
    for key in (_FLAGS_KEY, OPTIONS_KEY):
        own = _OWN_CLASS_PATH.search(conf.get(key))
        if own:
            return None if _has_master(own[1].split(":")) else _missing(key)
    if "@" in conf.get(_FLAGS_KEY):
        return _missing_in_argument_file(conf.get(_FLAGS_KEY))
    if not conf.get(_CLASS_PATH_KEY):
        return f"the site's files do not set {_CLASS_PATH_KEY}"
    entries = conf.get(_CLASS_PATH_KEY).split(",")
    return None if _has_master(entries) else _missing(_CLASS_PATH_KEY)


def _missing_in_argument_file(flags: str) -> str | None:
    """An argument file's class path replaces that of YARN."""
    for word in flags.split():
        if not word.startswith("@"):
            continue
        try:
            text = read_limited(Path(word[1:]), _MOST_BYTES).decode("utf-8", "replace")
        except OSError as wrong:
            return f"{word[1:]}, which {_FLAGS_KEY} names, cannot be read: {wrong.strerror}"
        found = _OWN_CLASS_PATH.search(text)
        if found:
            return None if _has_master(found[1].split(":")) else _missing(word[1:])
    return f"{_FLAGS_KEY} names an argument file without a class path"


def _missing(where: str) -> str:
    return f"no jar of this machine that {where} names has {MASTER}"


def _has_master(entries: list[str]) -> bool:
    return any(_holds_master(jar) for entry in entries for jar in _our_jars(entry.strip()))


def _our_jars(entry: str) -> Iterator[Path]:
    """The jars of an entry that may be VAS's, by their names."""
    path = Path(os.path.expandvars(entry))
    if path.name == "*":
        yield from sorted(path.parent.glob(_OUR_JARS))
    elif path.match(_OUR_JARS):
        yield path


def _holds_master(jar: Path) -> bool:
    try:
        with open_jar(jar) as archive:
            return _CLASS_FILE in archive.namelist()
    except (*BROKEN_JAR, BadInput):
        return False
