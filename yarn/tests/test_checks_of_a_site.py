"""`vas doctor` on a guest or login node: which parts are in force, and which are not."""

from __future__ import annotations

import hashlib
import re
import shutil
import zipfile
from pathlib import Path

import pytest

from vas_cluster.hadoop import configuration_xml
from vas_core.doctor import DoctorFinding
from vas_core.repository import REPOSITORY
from vas_core.root import Root
from vas_yarn.cds.archive import ArchiveRecord, Ingredients
from vas_yarn.checks import check
from vas_yarn.profiles import SHUFFLE
from vas_yarn.submit.master import MASTER, OPTIONS_KEY

FLAGS = "mapreduce.admin.map.child.java.opts"


@pytest.fixture
def guest(tmp_path: Path) -> dict[str, str]:
    """The properties of a guest on which everything is in force, but for the archive's file."""
    jar = tmp_path / "plugins" / "vas-yarn-plugins-0.1.0.jar"
    jar.parent.mkdir()
    with zipfile.ZipFile(jar, "w") as archive:
        archive.writestr(f"{MASTER.replace('.', '/')}.class", b"")
    (tmp_path / "child.args").write_text(
        f'-XX:SharedArchiveFile={tmp_path}/cds/hadoop.jsa\n-cp "{jar}:."\n'
    )
    return {
        **SHUFFLE,
        "yarn.resourcemanager.application-master-service.processors": (
            "org.vas.scheduler.PlacementProcessor,org.vas.shuffle.rm.KeepFinishedMaps"
        ),
        "vas.containers.reuse": "auto",
        OPTIONS_KEY: f"-Xmx1024m {MASTER}",
        "yarn.application.classpath": f"{jar.parent}/*",
        FLAGS: f"@{tmp_path}/child.args",
    }


def examined(root: Path, properties: dict[str, str]) -> dict[str, DoctorFinding]:
    directory = root / "etc/vas/hadoop"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "mapred-site.xml").write_text(configuration_xml(properties))
    return {finding.name: finding for finding in check(Root(root))}


def test_a_machine_without_a_configuration_has_one_finding(tmp_path: Path) -> None:
    (only,) = check(Root(tmp_path))
    assert (only.name, only.ok, only.optional) == ("Hadoop configuration", False, True)
    assert only.fix


def test_what_is_in_force_is_told(tmp_path: Path, guest: dict[str, str]) -> None:
    found = examined(tmp_path, guest)
    in_force = {name for name, finding in found.items() if finding.ok}
    assert in_force == {
        *("Hadoop configuration", "placement", "shuffle", "warm containers", "tasks")
    }


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("auto", "in force for jobs whose classes are all Hadoop's or VAS's"),
        ("on", "in force for every job"),
    ],
)
def test_warm_containers_are_told_for_the_jobs_that_have_them(
    word: str, told: str, tmp_path: Path, guest: dict[str, str]
) -> None:
    found = examined(tmp_path, guest | {"vas.containers.reuse": word})["warm containers"]
    assert found.ok and found.found.startswith(told)
    page = (REPOSITORY / "docs/site-defaults.md").read_text()
    assert f"ok  warm containers  {found.found}" in page or word == "on"


@pytest.mark.parametrize(
    ("changed", "name", "what"),
    [
        ({"vas.placement.enabled": "false"}, "placement", "vas.placement.enabled is false"),
        (
            {"yarn.resourcemanager.application-master-service.processors": "org.x.Y"},
            "placement",
            "has no processor of VAS",
        ),
        ({"vas.shuffle.enabled": "false"}, "shuffle", "stock's shuffle"),
        ({"mapreduce.job.tags": "mine"}, "shuffle", "not set: mapreduce.job.tags"),
        ({"vas.containers.reuse": "off"}, "warm containers", "is not auto or on"),
        ({OPTIONS_KEY: "-Xmx1g"}, "warm containers", "only for jobs of `vas submit`"),
        ({"yarn.application.classpath": "/none/*"}, "warm containers", "no jar of this machine"),
        ({FLAGS: "-Xmx1g"}, "class archive", "names no argument file"),
        ({FLAGS: "@/none/child.args"}, "class archive", "no container starts on this machine"),
    ],
)
def test_what_is_not_in_force_is_told_with_its_fix(
    changed: dict[str, str], name: str, what: str, tmp_path: Path, guest: dict[str, str]
) -> None:
    before, after = examined(tmp_path, guest), examined(tmp_path, guest | changed)
    assert not after[name].ok
    assert what in after[name].found
    assert after[name].fix
    others = {other for other in before if before[other].ok and other != name}
    assert all(after[other].ok for other in others)


@pytest.mark.skipif(shutil.which("java") is None, reason="no JDK")
def test_an_archive_that_was_not_built_is_missing(tmp_path: Path, guest: dict[str, str]) -> None:
    finding = examined(tmp_path, guest)["class archive"]
    assert not finding.ok
    assert f"{tmp_path}/cds/hadoop.jsa: missing; JDK " in finding.found
    assert re.fullmatch("run `JAVA_HOME=/[^ ]+ vas cds build`", finding.fix)


def test_jars_of_the_current_directory_do_not_make_an_archive_stale(
    tmp_path: Path, guest: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    jdk, cds, work = (tmp_path / name for name in ("jdk", "cds", "work"))
    for directory in (jdk, cds, work):
        directory.mkdir()
    (jdk / "release").write_text('JAVA_VERSION="17"\n')
    monkeypatch.setenv("JAVA_HOME", str(jdk))
    jar = tmp_path / "plugins/vas-yarn-plugins-0.1.0.jar"
    (tmp_path / "child.args").write_text(
        f'-XX:SharedArchiveFile={cds}/hadoop.jsa\n-cp "{jar}:job.jar/job.jar:.:./*"\n'
    )
    made = Ingredients(jdk, (jar,))
    (cds / "hadoop.jsa").write_bytes(b"archive")
    sha256 = hashlib.sha256(b"archive").hexdigest()
    record = ArchiveRecord(java=made.java, jars=1, ingredients=made.digest, sha256=sha256)
    (cds / "hadoop.json").write_text(record.model_dump_json())
    (work / "my.jar").touch()
    monkeypatch.chdir(work)
    finding = examined(tmp_path, guest)["class archive"]
    assert finding.ok, finding.found


@pytest.mark.parametrize(
    ("named", "ok"), [("VAS_JOBID", True), ("SLURM_JOB_ID", False), ("disable", False)]
)
def test_how_lustre_calls_a_job_is_told_where_its_client_is_loaded(
    tmp_path: Path, guest: dict[str, str], named: str, ok: bool
) -> None:
    assert "I/O by application" not in examined(tmp_path, guest)
    file = tmp_path / "sys/fs/lustre/jobid_var"
    file.parent.mkdir(parents=True)
    file.write_text(f"{named}\n")
    found = examined(tmp_path, guest)["I/O by application"]
    assert found.ok is ok
    assert ok or (named in found.found and "vas_lustre_client_jobid" in found.fix)
