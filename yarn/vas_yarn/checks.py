"""Checks, for `vas doctor`, which parts of VAS are switched on for jobs from this machine."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from vas_core.doctor import DoctorFinding
from vas_core.errors import BadInput, VasError
from vas_core.reading import read_limited
from vas_core.root import Root
from vas_yarn.cds.archive import ArchiveState, ClassArchive, Ingredients
from vas_yarn.cds.class_path import ClassPath, java_home
from vas_yarn.lint.rules import TAG, TAGS_KEY, is_off
from vas_yarn.profiles import SHUFFLE
from vas_yarn.site_files import (
    JobConfiguration,
    as_mapping,
    configuration_directory,
    has_site_files,
    site_properties,
)
from vas_yarn.site_services import JOBID
from vas_yarn.submit.master import MASTER, OPTIONS_KEY, REUSE_KEY, wants_warm, why_not

_PROCESSORS = "yarn.resourcemanager.application-master-service.processors"
_PLACEMENT = "org.vas.scheduler.PlacementProcessor"
_FLAGS = "mapreduce.admin.map.child.java.opts"
_MOST_BYTES = 1 << 20
_OF_ROLE = "etc/vas/hadoop"
_JAVA_OF_ROLE = "usr/lib/vas/java"
_JOBID_VAR = "sys/fs/lustre/jobid_var"
_ARCHIVE = re.compile(r"^-XX:SharedArchiveFile=(\S+)$", re.MULTILINE)
_CLASS_PATH = re.compile(r'^-cp "([^"]+)"$', re.MULTILINE)


def check(root: Root) -> Iterator[DoctorFinding]:
    """Yields a finding for the Hadoop configuration, and for each part of VAS that it can switch.

    Raises BadInput for a site file that is not Hadoop's XML.
    """
    try:
        directory = _directory(root)
    except BadInput as nowhere:
        yield _finding("Hadoop configuration", False, nowhere.what, str(nowhere.hint))
        return
    yield _finding("Hadoop configuration", True, str(directory))
    conf = as_mapping(site_properties(directory))
    yield _placement(conf)
    yield _shuffle(conf)
    yield _warm(conf)
    yield _class_archive(conf, root)
    yield _memory(conf)
    yield from _jobstats(root)


def _directory(root: Root) -> Path:
    if root.is_live:
        return configuration_directory()
    directory = root.path(_OF_ROLE)
    if has_site_files(directory):
        return directory
    raise BadInput(f"no Hadoop configuration in /{_OF_ROLE}", hint="apply the role hadoop")


def _placement(conf: JobConfiguration) -> DoctorFinding:
    if conf.get("vas.placement.enabled").lower() == "false":
        return _finding("placement", False, "vas.placement.enabled is false", "remove it there")
    if _PLACEMENT not in conf.get(_PROCESSORS):
        fix = f"set {_PROCESSORS} to {_PLACEMENT} (docs/placement.md)"
        return _finding("placement", False, "the ResourceManager has no processor of VAS", fix)
    wait = conf.get("vas.placement.node-wait", "20s")
    return _finding("placement", True, f"in force: maps wait {wait} for their node")


def _shuffle(conf: JobConfiguration) -> DoctorFinding:
    if is_off(conf):
        found = "vas.shuffle.enabled is false: stock's shuffle"
        return _finding("shuffle", False, found, "remove it there")
    lacking = [k for k, value in SHUFFLE.items() if k != TAGS_KEY and conf.get(k) != value]
    lacking += [] if TAG in conf.get(TAGS_KEY).split(",") else [TAGS_KEY]
    if lacking:
        found = f"only for jobs of `vas submit`: not set: {', '.join(lacking)}"
        fix = "use `vas submit`, or on a site vas_hadoop_profile: vas (docs/site-defaults.md)"
        return _finding("shuffle", False, found, fix)
    return _finding("shuffle", True, "in force for every job")


def _warm(conf: JobConfiguration) -> DoctorFinding:
    fix = "use `vas submit`, or on a site vas_hadoop_profile: vas (docs/warm.md)"
    is_ours = MASTER in conf.get(OPTIONS_KEY).split()
    # VAS's master takes no word for auto.
    if not wants_warm(conf) and (conf.get(REUSE_KEY) or not is_ours):
        return _finding("warm containers", False, "vas.containers.reuse is not auto or on", fix)
    if not is_ours:
        found = f"only for jobs of `vas submit`: {OPTIONS_KEY} does not end with {MASTER}"
        return _finding("warm containers", False, found, fix)
    cold = why_not(conf)
    if cold:
        return _finding("warm containers", False, cold, "jobs cannot start: docs/warm.md")
    # VAS's master takes no word for auto.
    if conf.get(REUSE_KEY, "auto") == "auto":
        found = "in force for jobs whose classes are all Hadoop's or VAS's (auto: docs/warm.md)"
        return _finding("warm containers", True, found)
    return _finding("warm containers", True, "in force for every job")


def _class_archive(conf: JobConfiguration, root: Root) -> DoctorFinding:
    named = conf.get(_FLAGS)
    if not named.startswith("@"):
        fix = "`vas cds build`, or on a site vas_hadoop_class_archive: true (docs/submit.md)"
        return _finding("class archive", False, f"{_FLAGS} names no argument file", fix)
    try:
        text = read_limited(Path(named[1:]), _MOST_BYTES).decode("utf-8", "replace")
    except (OSError, BadInput) as wrong:
        why = wrong.strerror if isinstance(wrong, OSError) else wrong.what
        found = f"{named[1:]}: {why}: no container starts on this machine"
        return _finding("class archive", False, found, "vas cds arguments > that file")
    archive, class_path = _ARCHIVE.search(text), _CLASS_PATH.search(text)
    if not archive or not class_path:
        found = f"{named[1:]} names no archive or no class path"
        return _finding("class archive", False, found, "vas cds arguments > that file")
    try:
        wanted = Ingredients(_java(root), ClassPath.of(_of_the_node(class_path[1])).jars)
        state = ClassArchive(Path(archive[1]).parent).state(wanted)
    except (VasError, OSError) as wrong:
        return _finding("class archive", False, str(wrong), "mend that")
    found = f"{archive[1]}: {state.value}; JDK {wanted.java}"
    fix = f"run `JAVA_HOME={wanted.java_home} vas cds build`"
    return _finding("class archive", state is ArchiveState.FITS, found, fix)


def _of_the_node(class_path: str) -> str:
    # The other entries lie in a container's directory. Here they would name the user's own jars.
    return ":".join(entry for entry in class_path.split(":") if entry.startswith("/"))


def _java(root: Root) -> Path:
    of_role = root.path(_JAVA_OF_ROLE)
    return of_role if of_role.exists() and "JAVA_HOME" not in os.environ else java_home()


def _jobstats(root: Root) -> Iterator[DoctorFinding]:
    """Only where Lustre's client is loaded: it knows how a process's job is called."""
    named = root.read(_JOBID_VAR)
    if named is None:
        return
    if named.strip() == JOBID:
        found = "in force: Lustre's servers count containers' I/O by application"
        yield _finding("I/O by application", True, found)
    else:
        found = f"jobid_var is {named.strip()}: Lustre's servers count this machine's I/O by that"
        fix = "on guests: vas_lustre_client_jobid (docs/jobstats.md)"
        yield _finding("I/O by application", False, found, fix)


def _memory(conf: JobConfiguration) -> DoctorFinding:
    sizes = [
        f"{kind} {conf.get(f'mapreduce.{kind}.memory.mb', '1024')} MiB"
        f" ({conf.get(f'mapreduce.{kind}.java.opts', 'flags of Hadoop')})"
        for kind in ("map", "reduce")
    ]
    return _finding("tasks", True, ", ".join(sizes))


def _finding(name: str, ok: bool, found: str, fix: str = "") -> DoctorFinding:
    return DoctorFinding(
        name=name,
        ok=ok,
        found=found,
        needed_for="jobs on a site",
        fix=fix,
        optional=True,
    )
