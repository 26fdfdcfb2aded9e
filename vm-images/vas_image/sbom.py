"""What is in an image, piece by piece, as CycloneDX 1.6 (cyclonedx.org/docs/1.6/json). Pure."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from vas_image.definition import System

_NAMESPACE = uuid.UUID("7d1c1f9e-6f2b-5c58-9d39-6a0a54a2a8d4")
_JAR = re.compile(r"(?P<name>.+?)-(?P<version>\d[\w.-]*)\.jar")
_WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)-.*\.whl")


@dataclass(frozen=True, order=True)
class Component:
    """One piece: `kind` is its package URL's type, deb, rpm, maven or pypi."""

    kind: str
    name: str
    version: str
    architecture: str = ""

    def purl(self, system: System) -> str:
        """The package URL (https://github.com/package-url/purl-spec)."""
        vendor = f"{system.distribution}/" if self.kind in ("deb", "rpm") else ""
        extra = f"?arch={self.architecture}" if self.architecture else ""
        return f"pkg:{self.kind}/{vendor}{self.name}@{self.version.replace(':', '%3A')}{extra}"


def debian_packages(status: str) -> Iterator[Component]:
    """Those that a dpkg status file has as installed."""
    for paragraph in status.split("\n\n"):
        fields = dict(re.findall(r"^(\w[\w-]*): (.*)$", paragraph, re.MULTILINE))
        if fields.get("Status") == "install ok installed":
            yield Component("deb", fields["Package"], fields["Version"], fields["Architecture"])


def manifest_packages(manifest: str) -> Iterator[Component]:
    """Those of a manifest of mkosi's."""
    for package in json.loads(manifest)["packages"]:
        words = (package[key] for key in ("type", "name", "version", "architecture"))
        yield Component(*words)


def file_components(names: Iterable[str]) -> Iterator[Component]:
    """Jars and wheels, by their files' names."""
    for name in names:
        base = PurePosixPath(name).name
        for kind, pattern in (("maven", _JAR), ("pypi", _WHEEL)):
            if found := pattern.fullmatch(base):
                yield Component(kind, found["name"], found["version"])


def bill(components: Iterable[Component], system: System) -> dict[str, Any]:
    """The bill of materials; of the same components always the same."""
    found = sorted(set(components))
    purls = [component.purl(system) for component in found]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(_NAMESPACE, "\n".join(purls)).urn,
        "version": 1,
        "metadata": {"component": {"type": "operating-system", "name": f"vas-guest-{system}"}},
        "components": [
            {
                "type": "library",
                "bom-ref": purl,
                "name": component.name,
                "version": component.version,
                "purl": purl,
            }
            for component, purl in zip(found, purls, strict=True)
        ],
    }
