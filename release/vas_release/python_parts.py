"""Builds the wheel of VAS, and fetches the wheels of the libraries that it pins."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from vas_ansible.archives import pack
from vas_ansible.audit import locked_libraries
from vas_core.sbom import SbomComponent, file_components
from vas_core.wheels import NODE_LOCK, SITE_LOCK, build_own_wheel, download_libraries
from vas_release.artefact import ReleaseFile
from vas_release.source import ReleaseSource

_WHEEL = "vas_lustre-*.whl"


def build_wheel(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
    """Builds VAS; its bill lists the libraries that it needs with all extras of a site."""
    wheel = build_own_wheel(directory, source.environment())
    yield ReleaseFile(wheel, tuple(locked_libraries(SITE_LOCK.read_text())))


def dependencies_for(
    pythons: Sequence[str],
) -> Callable[[ReleaseSource, Path], Iterator[ReleaseFile]]:
    """Returns a builder that fetches the locked wheels for these versions of Python (`3.11`).

    It also packs those that a node needs as one archive, the role's `vas_program_archive`.
    """

    def fetch(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
        own = own_wheel(source, directory)
        for python in pythons:
            download_libraries(directory, python, SITE_LOCK)
        fetched = sorted(set(directory.glob("*.whl")) - {own})
        of_node = locked_wheels(fetched, NODE_LOCK)
        archive = directory / f"vas-wheels-{source.version}.tar"
        pack(archive, {f"wheels/{file.name}": file for file in (own, *of_node)})
        yield ReleaseFile(archive, None)
        for wheel in fetched:
            yield ReleaseFile(wheel, (wheel_component(wheel),))

    return fetch


def own_wheel(source: ReleaseSource, directory: Path) -> Path:
    """Returns the wheel of VAS in a directory, where it is built unless it is there already."""
    return next(directory.glob(_WHEEL), None) or build_own_wheel(directory, source.environment())


def locked_wheels(wheels: Iterable[Path], lock: Path) -> list[Path]:
    """Returns those of the wheels that a lock has, by name and version."""
    locked = {_key(found) for found in locked_libraries(lock.read_text())}
    return [wheel for wheel in wheels if _key(wheel_component(wheel)) in locked]


def wheel_component(wheel: Path) -> SbomComponent:
    """Returns a wheel as its line in a bill of materials, with its SHA-256."""
    (found,) = file_components([wheel.name])
    return replace(found, sha256=hashlib.sha256(wheel.read_bytes()).hexdigest())


def _key(component: SbomComponent) -> tuple[str, str]:
    """Returns name and version, the name in the one form of PyPI (PEP 503)."""
    return re.sub(r"[-_.]+", "-", component.name).lower(), component.version
