"""The parts of a release, and what each one's builder returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from vas_core.sbom import SbomComponent
from vas_release.source import ReleaseSource


@dataclass(frozen=True)
class ReleaseFile:
    """A file of a release, and the libraries of others that it holds or needs.

    `components` is None for a file whose bill of materials its builder has written.
    """

    path: Path
    components: tuple[SbomComponent, ...] | None = ()


@dataclass(frozen=True)
class Artefact:
    """A part of a release by its name; `file` is its file's name, with {version} in it.

    `build` writes into an existing directory. A part that is `optional` is built only when it is
    asked for. `needs` names the program that makes the part, if a machine may lack it.
    """

    name: str
    file: str
    what: str
    expected_seconds: float
    build: Callable[[ReleaseSource, Path], Iterable[ReleaseFile]]
    optional: bool = False
    needs: str = ""

    def file_name(self, version: str) -> str:
        """Returns the name of the part's file in a release of that version."""
        return self.file.format(version=version)
