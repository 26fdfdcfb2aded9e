"""Builds the parts of a release into a new directory, with sums and bills of materials."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.sbom import bill
from vas_release.artefact import Artefact, ReleaseFile
from vas_release.source import ReleaseSource

SUMS = "SHA256SUMS"
_BILL = ".cdx.json"
_FOR_ALL = 0o755


@dataclass(frozen=True)
class ListedFile:
    """A file of a finished release: its name, size and SHA-256."""

    name: str
    size_bytes: int
    sha256: str


def check_new(directory: Path) -> None:
    """Raises BadInput unless `directory` is missing, or empty: sums cover all that lies in it."""
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        hint = "name a directory that is new or empty"
        raise BadInput("is not an empty directory", where=str(directory), hint=hint)


def make_release(
    source: ReleaseSource,
    parts: Sequence[Artefact],
    directory: Path,
    step: Callable[[str], AbstractContextManager[None]],
) -> list[ListedFile]:
    """Builds `parts` in turn, each within `step(name)`; returns the files, sorted by name.

    `directory` appears when all are there, and not before. Raises what the builders raise, OSError
    if the directory cannot be written, BadInput if it is not new.
    """
    check_new(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=directory.parent, prefix=".vas-release.") as name:
        work = Path(name, "release")
        work.mkdir()
        for part in parts:
            with step(part.name):
                for file in part.build(source, work):
                    _write_bill(file, source)
        files = list(_listed(work))
        sums = (f"{file.sha256}  {file.name}\n" for file in files)
        (work / SUMS).write_text("".join(sums))
        work.chmod(_FOR_ALL)
        if directory.exists():
            directory.rmdir()
        work.rename(directory)
    return files


def digest(file: Path) -> str:
    """Returns the SHA-256 of a file, in hexadecimal. Raises OSError if it cannot be read."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _write_bill(file: ReleaseFile, source: ReleaseSource) -> None:
    if file.components is None:
        return
    made = bill(
        file.components,
        subject=file.path.name,
        subject_type="file",
        version=source.version,
        sha256=digest(file.path),
    )
    target = file.path.with_name(f"{file.path.name}{_BILL}")
    target.write_text(json.dumps(made, indent=1) + "\n")


def _listed(directory: Path) -> Iterator[ListedFile]:
    for file in sorted(directory.iterdir()):
        yield ListedFile(file.name, file.stat().st_size, digest(file))
