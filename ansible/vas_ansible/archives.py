"""What the controller hands to nodes, each as one file: VAS as wheels, Hadoop and the plugins.

Two archives of the same content are the same bytes, so a node can tell by the digest.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from vas_core.files import write_atomically
from vas_core.sbom import bill, file_components
from vas_core.wheels import gather_wheels
from vas_yarn.jars import find_hadoop, find_plugins

# Debian 12's own Python, and the one that Rocky 9 has beside its own.
PYTHON = "3.11"


def archive_wheels(archive: Path, pythons: Sequence[str] = (PYTHON,)) -> int:
    """Writes VAS and the libraries that it pins, from the package index; returns how many.

    Of a library that is built for a Python, there is a wheel for each of `pythons`.
    """
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        for python in pythons:
            gather_wheels(directory, python)
        return pack(archive, _named("wheels", directory.glob("*.whl")))


def archive_hadoop(archive: Path) -> int:
    """Writes the jars that the lab runs too; returns how many. Raises NotHere before a build."""
    jars = _named("hadoop", find_hadoop().glob("*.jar"))
    return pack(archive, jars | _named("plugins", [find_plugins()]))


def _named(directory: str, files: Iterable[Path]) -> dict[str, Path]:
    return {f"{directory}/{file.name}": file for file in files}


def pack(archive: Path, files: dict[str, Path]) -> int:
    """Writes a tar of files by their names in it, root's, without times; returns how many.

    Writes what is in it besides: a bill of materials with each file's SHA-256, ARCHIVE.cdx.json.
    """
    archive.parent.mkdir(parents=True, exist_ok=True)
    temporary = archive.with_name(f".{archive.name}.new")
    with tarfile.open(temporary, "w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(files):
            tar.add(files[name], name, filter=_plain)
    write_atomically(archive.with_name(f"{archive.name}.cdx.json"), _bill(archive.name, files))
    temporary.rename(archive)
    return len(files)


def _bill(name: str, files: dict[str, Path]) -> str:
    found = [
        replace(component, sha256=hashlib.sha256(file.read_bytes()).hexdigest())
        for file in files.values()
        for component in file_components([file.name])
    ]
    return json.dumps(bill(found, subject=name, subject_type="file"), indent=1) + "\n"


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = "root"
    member.mode = 0o644
    return member
