"""Downloads are the recorded ones, and daemons run without the jars with known holes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from vas_ansible.audit import audit, components_of_nodes, read_advisories
from vas_core.errors import VasError
from vas_core.process import run
from vas_lab.lab import Lab
from vas_tests.checks import MAVEN

pytestmark = [pytest.mark.slow, pytest.mark.long]

_GET = "org.apache.maven.plugins:maven-dependency-plugin:3.9.0:get"
_POM = (
    "<project><modelVersion>4.0.0</modelVersion><groupId>org.vas</groupId>"
    "<artifactId>planted</artifactId><version>1</version></project>"
)


def _registry(directory: Path, jars_sha1: str) -> str:
    """A registry of one library, which says that SHA-1 of its jar; returns its address."""
    place = directory / "org/vas/planted/1"
    place.mkdir(parents=True)
    (place / "planted-1.pom").write_text(_POM)
    (place / "planted-1.pom.sha1").write_text(hashlib.sha1(_POM.encode()).hexdigest())
    (place / "planted-1.jar").write_bytes(b"PK")
    (place / "planted-1.jar.sha1").write_text(jars_sha1)
    return f"planted::default::{directory.as_uri()}"


@pytest.mark.parametrize("is_right", [True, False])
def test_S6_maven_refuses_a_download_with_a_wrong_checksum(tmp_path: Path, is_right: bool) -> None:
    registry = _registry(tmp_path / "r", hashlib.sha1(b"PK").hexdigest() if is_right else "0" * 40)
    words = [f"-Dmaven.repo.local={tmp_path / 'local'}", f"-DremoteRepositories={registry}"]
    argv = [*MAVEN, "-N", _GET, *words, "-Dartifact=org.vas:planted:1"]
    if is_right:
        run(argv)
    else:
        with pytest.raises(VasError, match="Checksum validation failed"):
            run(argv)


def test_S6_daemons_and_jobs_run_without_the_jars_with_known_holes(lab: Lab) -> None:
    components = components_of_nodes()
    names = {component.name for component in components}
    assert "hadoop-yarn-server-resourcemanager" in names
    assert not names & {"mssql-jdbc", "HikariCP", "fst", "jline", "jsch"}
    assert [f for f in audit(components, read_advisories()) if not f.advisory.accepted] == []
    assert lab.run_job(["pi", "2", "10"]).state == "SUCCEEDED"
