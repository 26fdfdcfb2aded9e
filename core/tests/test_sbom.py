"""The bill of materials."""

from __future__ import annotations

import json
from typing import Any

from vas_core.sbom import SbomComponent, bill, debian_packages, file_components, manifest_packages

STATUS = """\
Package: adduser
Status: install ok installed
Architecture: all
Version: 3.134
Description: add
 more words: yes

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: tzdata
Status: install ok installed
Architecture: all
Version: 1:2025b-0+deb12u2
"""


def test_only_what_is_installed_counts() -> None:
    found = list(debian_packages(STATUS))
    assert [component.name for component in found] == ["adduser", "tzdata"]
    assert found[1].purl("debian") == "pkg:deb/debian/tzdata@1%3A2025b-0+deb12u2?arch=all"


def test_mkosis_manifest_says_the_same() -> None:
    package = {"type": "rpm", "name": "bash", "version": "5.1-1.el9", "architecture": "x86_64"}
    (found,) = manifest_packages(json.dumps({"packages": [package]}))
    assert found.purl("rocky") == "pkg:rpm/rocky/bash@5.1-1.el9?arch=x86_64"


def test_jars_and_wheels_are_known_by_their_names() -> None:
    names = ["hadoop-common-3.5.0.jar", "pydantic-2.14.3-py3-none-any.whl", "README"]
    assert list(file_components(names)) == [
        SbomComponent("maven", "hadoop-common", "3.5.0"),
        SbomComponent("pypi", "pydantic", "2.14.3"),
    ]


def test_the_same_components_in_any_order_make_the_same_bill() -> None:
    components = [*debian_packages(STATUS), *file_components(["a-1.jar"])]
    one = _bill(components)
    assert one == _bill([*reversed(components), *components])
    assert len(one["components"]) == 3
    assert one["serialNumber"] != _bill(components[1:])["serialNumber"]


def _bill(components: list[SbomComponent]) -> dict[str, Any]:
    return bill(components, subject="x", subject_type="file", distribution="debian")
