"""The commit that a release is built from: its files, its time, and its one version."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from vas_core.errors import BadInput, NotHere, VasError
from vas_core.process import run

_PROJECT = "pyproject.toml"
_PARENT = re.compile(r"<artifactId>vas-parent</artifactId>\s*<version>([^<]+)</version>")
_CHANGES = re.compile(r"^## ([^\s,]+)", re.MULTILINE)
_EPOCH = "SOURCE_DATE_EPOCH"


@dataclass(frozen=True)
class ReleaseSource:
    """A clone and the commit in it. `epoch` is the time, in seconds, of all files of a release."""

    repository: Path
    version: str
    commit: str
    epoch: int

    @classmethod
    def of(cls, repository: Path, *, uncommitted: bool = False) -> ReleaseSource:
        """Reads version, commit and time; the time is that of $SOURCE_DATE_EPOCH if it is set.

        Raises NotHere outside of a git clone, BadInput for changes that are not committed (unless
        `uncommitted`) and for versions that differ.
        """
        if not (repository / ".git").exists():
            hint = "a release is made in a git clone: ./vas release"
            raise NotHere("is not a git clone", where=str(repository), hint=hint)
        changed = _git(repository, "status", "--porcelain").splitlines()
        if changed and not uncommitted:
            hint = "commit it, or give --uncommitted to try a build"
            raise BadInput("is not committed", where=changed[0][3:], hint=hint)
        commit, time = _git(repository, "log", "-1", "--format=%H %ct").split()
        version = one_version(versions(repository))
        return cls(repository, version, commit, _epoch(os.environ.get(_EPOCH, time)))

    def tracked(self, *paths: str) -> list[Path]:
        """Returns the files of the commit below these paths, sorted, relative to the clone.

        Symbolic links are among them; files that somebody removed are not.
        """
        listed = _git(self.repository, "ls-files", "-z", "--", *paths).split("\0")
        found = [Path(name) for name in listed if name]
        return sorted(name for name in found if os.path.lexists(self.repository / name))

    def environment(self) -> Mapping[str, str]:
        """Returns the environment of a program that builds: with the commit's time."""
        return {**os.environ, _EPOCH: str(self.epoch)}


def versions(repository: Path) -> dict[str, str]:
    """Returns place -> version, of every file that has the project's version.

    The first is pyproject.toml, the one place where it is changed by choice. Raises VasError for a
    file that has none.
    """
    return dict(_versions(repository))


def one_version(by_place: Mapping[str, str]) -> str:
    """Returns the version of pyproject.toml. Raises BadInput if another place has another one."""
    version = by_place[_PROJECT]
    for place, other in by_place.items():
        if other != version:
            hint = f"write {version} there, or change {_PROJECT}"
            raise BadInput(f"has version {other}; {_PROJECT} has {version}", where=place, hint=hint)
    return version


def _versions(repository: Path) -> Iterator[tuple[str, str]]:
    yield _PROJECT, _toml(repository / _PROJECT)["project"]["version"]
    for pom in sorted((repository / "yarn-plugins").glob("**/pom.xml")):
        if "target" not in pom.parts:
            yield str(pom.relative_to(repository)), _found(_PARENT, pom)
    for crate in ("shuffled", "shuffled/verbs"):
        manifest = repository / crate / "Cargo.toml"
        yield f"{crate}/Cargo.toml", _toml(manifest)["package"]["version"]
    galaxy = yaml.safe_load((repository / "ansible/galaxy.yml").read_text())
    yield "ansible/galaxy.yml", str(galaxy["version"])
    citation = yaml.safe_load((repository / "CITATION.cff").read_text())
    yield "CITATION.cff", str(citation["version"])
    yield "CHANGELOG.md", _found(_CHANGES, repository / "CHANGELOG.md")


def _toml(file: Path) -> dict[str, dict[str, str]]:
    return tomllib.loads(file.read_text())


def _found(pattern: re.Pattern[str], file: Path) -> str:
    found = pattern.search(file.read_text())
    if found is None:
        raise VasError("has no version", where=str(file), hint=f"it matches {pattern.pattern}")
    return found[1]


def _epoch(text: str) -> int:
    if not text.isdecimal():
        hint = "seconds since 1970, or unset it"
        raise BadInput(f"{text!r} is not a number", where=f"${_EPOCH}", hint=hint)
    return int(text)


def _git(repository: Path, *words: str) -> str:
    return run(["git", "-C", repository, *words]).stdout.strip("\n")
