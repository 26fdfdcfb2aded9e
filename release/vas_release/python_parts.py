"""Builds the wheel of VAS, and fetches the wheels of the libraries that it pins."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
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
        own = next(directory.glob(_WHEEL), None) or build_own_wheel(directory, source.environment())
        for python in pythons:
            download_libraries(directory, python, SITE_LOCK)
        fetched = sorted(set(directory.glob("*.whl")) - {own})
        node = {_key(found) for found in locked_libraries(NODE_LOCK.read_text())}
        of_node = [wheel for wheel in fetched if _key(_component(wheel)) in node]
        archive = directory / f"vas-wheels-{source.version}.tar"
        pack(archive, {f"wheels/{file.name}": file for file in (own, *of_node)})
        yield ReleaseFile(archive, None)
        for wheel in fetched:
            yield ReleaseFile(wheel, (_component(wheel),))

    return fetch


def _component(wheel: Path) -> SbomComponent:
    (found,) = file_components([wheel.name])
    return replace(found, sha256=hashlib.sha256(wheel.read_bytes()).hexdigest())


def _key(component: SbomComponent) -> tuple[str, str]:
    """Returns name and version, the name in the one form of PyPI (PEP 503)."""
    return re.sub(r"[-_.]+", "-", component.name).lower(), component.version
