"""Compares the libraries that nodes get with the advisories that the repository keeps."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput
from vas_core.reading import read_limited
from vas_core.repository import REPOSITORY
from vas_core.sbom import SbomComponent, file_components
from vas_core.wheels import NODE_LOCK
from vas_yarn.jars import find_hadoop, find_plugins

CRATES_LOCK = REPOSITORY / "shuffled/Cargo.lock"
ADVISORIES = NODE_LOCK.with_name("advisories.tsv")
_MOST_BYTES = 16 << 20
_LOCKED = re.compile(r"([\w.-]+)==([^ ;\\]+)")


@dataclass(frozen=True)
class Advisory:
    """One known vulnerability of a library.

    `fixed`: first version without it, empty if there is none; `accepted`: why an older version may
    stay, empty if it may not.
    """

    kind: str
    name: str
    fixed: str
    identifier: str
    accepted: str


@dataclass(frozen=True)
class AuditFinding:
    """A library that reaches a node and is older than an advisory's first fixed version."""

    component: SbomComponent
    advisory: Advisory


def read_advisories(path: Path = ADVISORIES) -> list[Advisory]:
    """Reads the list of advisories.

    Raises BadInput for a line without five columns, for a list without advisories, and for a file
    that is too large or not a file.
    """
    found = []
    for number, line in enumerate(_text(path).splitlines(), start=1):
        if line.startswith("#"):
            continue
        words = line.split("\t")
        if len(words) != 5:
            hint = "kind, name, fixed, advisory, accepted; tabs between them"
            raise BadInput(f"has {len(words)} columns, not 5", where=f"{path}:{number}", hint=hint)
        kind, name, fixed, identifier, accepted = words
        found.append(Advisory(kind, name, "" if fixed == "-" else fixed, identifier, accepted))
    if not found:
        raise BadInput("has no advisory", where=str(path), hint="name the repository's list")
    return found


def _text(path: Path) -> str:
    try:
        return read_limited(path, _MOST_BYTES).decode()
    except OSError as wrong:
        raise BadInput(f"cannot be read: {wrong.strerror}", where=str(path)) from wrong
    except UnicodeDecodeError as wrong:
        raise BadInput("is not a text file", where=str(path)) from wrong


def components_of_nodes() -> list[SbomComponent]:
    """Lists Hadoop's jars, the plugins' jar, the locked Python libraries and vas-shuffled's crates.

    Raises NotHere before a build.
    """
    jars = [file.name for file in (*find_hadoop().glob("*.jar"), find_plugins())]
    locked = (*locked_libraries(NODE_LOCK.read_text()), *locked_crates(CRATES_LOCK.read_text()))
    return sorted({*file_components(jars), *locked})


def locked_libraries(lock: str) -> Iterator[SbomComponent]:
    """Yields the libraries of a lock file in pip's format."""
    for line in lock.splitlines():
        if found := _LOCKED.match(line):
            yield SbomComponent("pypi", found[1], found[2])


def locked_crates(lock: str) -> Iterator[SbomComponent]:
    """Yields the crates that Cargo's lock file brings from a registry."""
    for package in tomllib.loads(lock)["package"]:
        if "source" in package:
            yield SbomComponent("cargo", package["name"], package["version"])


def audit(
    components: Iterable[SbomComponent], advisories: Iterable[Advisory]
) -> list[AuditFinding]:
    """Returns a finding for each component that an advisory covers, in the order of components."""
    known = list(advisories)
    return [
        AuditFinding(component, advisory)
        for component in components
        for advisory in known
        if (component.kind, component.name) == (advisory.kind, advisory.name)
        and is_older(component.version, advisory.fixed)
    ]


def is_older(version: str, fixed: str) -> bool:
    """Tells whether `version` comes before `fixed` by leading numbers; true if `fixed` is empty.

    What follows the numbers (`-jre`, `.Final`, `.v20250814`) does not count.
    """
    return not fixed or _numbers(version) < _numbers(fixed)


def _numbers(version: str) -> list[int]:
    leading = re.match(r"\d+(\.\d+)*(?![\w])", version) or re.match(r"\d+(\.\d+)*(?=\.)", version)
    return [int(word) for word in leading[0].split(".")] if leading else []
