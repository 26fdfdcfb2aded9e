"""Writes bills of materials of images and archives: CycloneDX 1.6 (cyclonedx.org/docs/1.6/json)."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

_NAMESPACE = uuid.UUID("7d1c1f9e-6f2b-5c58-9d39-6a0a54a2a8d4")
_JAR = re.compile(r"(?P<name>.+?)-(?P<version>\d[\w.-]*)\.jar")
_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)-.*\.whl")


@dataclass(frozen=True, order=True)
class SbomComponent:
    """A library or package; `kind` is the type of its package URL: deb, rpm, maven, pypi
    or cargo."""

    kind: str
    name: str
    version: str
    architecture: str = ""
    sha256: str = ""

    def purl(self, distribution: str = "") -> str:
        """Returns the package URL (https://github.com/package-url/purl-spec).

        `distribution` (`debian`, `rocky`) is the vendor of deb and rpm packages.
        """
        vendor = f"{distribution}/" if self.kind in ("deb", "rpm") else ""
        extra = f"?arch={self.architecture}" if self.architecture else ""
        return f"pkg:{self.kind}/{vendor}{self.name}@{self.version.replace(':', '%3A')}{extra}"


def debian_packages(status: str) -> Iterator[SbomComponent]:
    """Yields the packages that a dpkg status file lists as installed."""
    for paragraph in status.split("\n\n"):
        fields = dict(re.findall(r"^(\w[\w-]*): (.*)$", paragraph, re.MULTILINE))
        if fields.get("Status") == "install ok installed":
            yield SbomComponent("deb", fields["Package"], fields["Version"], fields["Architecture"])


def manifest_packages(manifest: str) -> Iterator[SbomComponent]:
    """Yields the packages of a manifest that mkosi wrote (JSON).

    Raises ValueError for a text that is not JSON, KeyError for one without mkosi's keys.
    """
    for package in json.loads(manifest)["packages"]:
        words = (package[key] for key in ("type", "name", "version", "architecture"))
        yield SbomComponent(*words)


def file_components(names: Iterable[str]) -> Iterator[SbomComponent]:
    """Yields a component for each jar and wheel, by its file name; leaves out other names."""
    for name in names:
        base = PurePosixPath(name).name
        for kind, pattern in (("maven", _JAR), ("pypi", _WHEEL)):
            if found := pattern.fullmatch(base):
                yield SbomComponent(kind, found["name"], found["version"])


def bill(
    components: Iterable[SbomComponent],
    *,
    subject: str,
    subject_type: str,
    distribution: str = "",
    version: str = "",
    sha256: str = "",
) -> dict[str, Any]:
    """Returns the bill of materials of `subject` as CycloneDX; equal components give equal bills.

    `subject_type` is CycloneDX's (`operating-system`, `file`). `distribution` (`debian`, `rocky`)
    is the vendor of deb and rpm packages. `version` and `sha256` are the subject's own.
    """
    found = sorted(set(components))
    purls = [component.purl(distribution) for component in found]
    about: dict[str, Any] = {"type": subject_type, "name": subject}
    if version:
        about["version"] = version
    if sha256:
        about["hashes"] = _hashes(sha256)
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(_NAMESPACE, "\n".join([subject, *purls])).urn,
        "version": 1,
        "metadata": {"component": about},
        "components": [
            _entry(component, purl) for component, purl in zip(found, purls, strict=True)
        ],
    }


def _entry(component: SbomComponent, purl: str) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "type": "library",
        # One version may come as several files, one for each Python.
        "bom-ref": f"{purl}#{component.sha256}" if component.sha256 else purl,
        "name": component.name,
        "version": component.version,
        "purl": purl,
    }
    if component.sha256:
        entry["hashes"] = _hashes(component.sha256)
    return entry


def _hashes(sha256: str) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": sha256}]
