"""Where a machine's Hadoop configuration is found, and what it says of the site's YARN."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_cluster import Cluster, load_cluster
from vas_cluster.hadoop import configuration_xml
from vas_core.errors import BadInput
from vas_yarn import site_files
from vas_yarn.site_files import as_mapping, configuration_directory, machine_configuration
from vas_yarn.site_services import history_url, manager_urls, staging_directory

EXAMPLE = Path(__file__).parents[2] / "cluster" / "examples" / "laptop-lab.yaml"


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return load_cluster(EXAMPLE)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose two usual directories, of the role and of Hadoop, are empty."""
    monkeypatch.delenv("HADOOP_CONF_DIR", raising=False)
    usual = (tmp_path / "vas", tmp_path / "hadoop")
    monkeypatch.setattr(site_files, "_DIRECTORIES", usual)
    for directory in (*usual, tmp_path / "named"):
        directory.mkdir()
    return tmp_path


def configure(directory: Path, value: str) -> None:
    text = configuration_xml({"fs.defaultFS": value})
    (directory / "core-site.xml").write_text(text)


def test_the_variable_comes_before_the_roles_directory_and_that_before_hadoops(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    configure(machine / "hadoop", "file:///")
    assert configuration_directory() == machine / "hadoop"
    configure(machine / "vas", "lustre:///")
    assert configuration_directory() == machine / "vas"
    assert machine_configuration(notes.append).get("fs.defaultFS") == "lustre:///"
    configure(machine / "named", "hdfs://n")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(machine / "named"))
    assert machine_configuration(notes.append).get("fs.defaultFS") == "hdfs://n"
    assert notes == []


def test_a_machine_without_one_says_so_in_one_line(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes: list[str] = []
    assert machine_configuration(notes.append).find("fs.defaultFS") is None
    fix = "set HADOOP_CONF_DIR to the directory of the site's core-site.xml"
    assert notes == [f"vas: no Hadoop configuration in {machine}/vas or {machine}/hadoop; {fix}"]
    # What somebody names is not replaced by another.
    configure(machine / "vas", "lustre:///")
    monkeypatch.setenv("HADOOP_CONF_DIR", str(machine / "named"))
    with pytest.raises(BadInput) as wrong:
        configuration_directory()
    assert str(wrong.value) == (
        f"HADOOP_CONF_DIR: no Hadoop configuration in {machine}/named; {fix}"
    )


def test_addresses_are_the_configurations_and_else_the_maps(cluster: Cluster) -> None:
    nothing = as_mapping({})
    assert manager_urls(nothing, cluster) == ("http://rm:8088",)
    assert history_url(nothing, cluster) == "http://rm:19888"
    conf = as_mapping(
        {
            "yarn.http.policy": "HTTPS_ONLY",
            "yarn.resourcemanager.ha.rm-ids": "a, b",
            "yarn.resourcemanager.hostname.a": "one",
            "yarn.resourcemanager.webapp.https.address.b": "two:9443",
            "mapreduce.jobhistory.http.policy": "HTTPS_ONLY",
            "mapreduce.jobhistory.webapp.https.address": "0.0.0.0:1",
        }
    )
    assert manager_urls(conf, cluster) == ("https://one:8090", "https://two:9443")
    assert history_url(conf, cluster) == "https://rm:1"


@pytest.mark.parametrize(
    ("properties", "below"),
    [
        ({}, "{mount}/tmp/hadoop-yarn/staging"),
        ({"yarn.app.mapreduce.am.staging-dir": "/yarn/staging"}, "{mount}/yarn/staging"),
        ({"yarn.app.mapreduce.am.staging-dir": "lustre:///s"}, "{mount}/s"),
        ({"yarn.app.mapreduce.am.staging-dir": "file:///s"}, "/s"),
        ({"yarn.app.mapreduce.am.staging-dir": "/s", "fs.defaultFS": "file:///"}, "/s"),
    ],
)
def test_the_staging_directory_is_below_the_mount(
    properties: dict[str, str], below: str, cluster: Cluster
) -> None:
    expected = below.format(mount=cluster.lustre.mount)
    assert staging_directory(as_mapping(properties), cluster) == Path(expected)
