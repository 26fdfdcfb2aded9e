"""Packs archives that the controller hands to nodes: wheels of VAS, jars of Hadoop and plugins.

Archives of the same content have the same bytes, so a node can compare their digests.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from vas_core.errors import VasError
from vas_core.files import write_atomically
from vas_core.sbom import SbomComponent, bill, file_components
from vas_core.wheels import gather_wheels
from vas_yarn.jars import (
    ACCEPT_MODULES,
    find_accept_jar,
    find_hadoop,
    find_plugins,
    find_spark_shuffle,
    is_older_than_source,
)

# Debian 12's Python, and one that Rocky 9 has in addition to its own.
PYTHON = "3.11"


def archive_wheels(archive: Path, pythons: Sequence[str] = (PYTHON,)) -> int:
    """Packs VAS and its pinned libraries from the package index; returns the number of wheels.

    A library that is built for one Python version has a wheel for each of `pythons`. Raises
    VasError if pip fails, OSError if the archive cannot be written.
    """
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for python in pythons:
            gather_wheels(directory, python)
        return pack(archive, _named("wheels", directory.glob("*.whl")))


def archive_hadoop(archive: Path) -> int:
    """Packs Hadoop's jars, the plugins', and those of `vas accept`; returns their number.

    Spark's shuffle manager is packed where the clone has built it (`vas spark get`).

    Raises NotHere before a build, VasError where that jar is older than its source, OSError if the
    archive cannot be written.
    """
    jars = _named("hadoop", find_hadoop().glob("*.jar"))
    accept = _named("accept", map(find_accept_jar, ACCEPT_MODULES))
    shuffle = find_spark_shuffle()
    if shuffle and is_older_than_source(shuffle):
        hint = "`vas spark get` builds it again; or remove it"
        raise VasError("is older than its source", where=str(shuffle), hint=hint)
    spark = _named("spark", filter(None, [shuffle]))
    return pack(archive, jars | _named("plugins", [find_plugins()]) | accept | spark)


def _named(directory: str, files: Iterable[Path]) -> dict[str, Path]:
    return {f"{directory}/{file.name}": file for file in files}


def pack(archive: Path, files: dict[str, Path]) -> int:
    """Writes a tar of `files`, name in the tar -> path, and returns their number.

    Members belong to root and have no times. Also writes ARCHIVE.cdx.json, a bill of materials with
    each file's SHA-256. Raises VasError for a file without a version in its name, OSError if the
    archive cannot be written.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    # A name that nobody can foresee: the directory may be anybody's.
    with tempfile.TemporaryDirectory(dir=archive.parent, prefix=f".{archive.name}.") as work:
        new = Path(work, archive.name)
        with tarfile.open(new, "w", format=tarfile.GNU_FORMAT) as tar:
            for name in sorted(files):
                tar.add(files[name], name, filter=_plain)
        write_atomically(archive.with_name(f"{archive.name}.cdx.json"), _bill(archive.name, files))
        new.rename(archive)
    return len(files)


def _bill(name: str, files: dict[str, Path]) -> str:
    found = [
        replace(_component(file), sha256=hashlib.sha256(file.read_bytes()).hexdigest())
        for file in files.values()
    ]
    return json.dumps(bill(found, subject=name, subject_type="file"), indent=1) + "\n"


def _component(file: Path) -> SbomComponent:
    for component in file_components([file.name]):
        return component
    hint = "it would be missing in the bill of materials: give it its version, as NAME-1.0.jar"
    raise VasError("has no version in its name", where=str(file), hint=hint)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = "root"
    member.mode = 0o644
    return member
