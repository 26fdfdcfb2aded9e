"""A site's Hadoop configuration: its servers, and copies with a plan's properties."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_bench.site.configuration import SiteConfiguration, switched_off
from vas_cluster import parse_cluster
from vas_cluster.hadoop import configuration_xml
from vas_core.errors import BadInput
from vas_lab.sites import lab_site_yaml
from vas_yarn.lint.rules import TAGS_KEY
from vas_yarn.profiles import SHUFFLE
from vas_yarn.site_files import SITE_FILES, site_properties
from vas_yarn.submit.master import MASTER, OPTIONS_KEY, REUSE_KEY

CLUSTER = parse_cluster(lab_site_yaml(2), "lab")
_ON_LUSTRE = {"fs.defaultFS": "lustre:///"}


def read(directory: Path, **files: dict[str, str]) -> SiteConfiguration:
    """A directory with these files: `core`, `yarn`, ..."""
    for name, properties in {"core": _ON_LUSTRE, **files}.items():
        (directory / f"{name}-site.xml").write_text(configuration_xml(properties))
    return SiteConfiguration.read(directory)


def test_servers_are_where_they_usually_are(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.resource_manager(CLUSTER) == (CLUSTER.resourcemanager_address, 8088)
    assert found.history(CLUSTER) == "http://rm:19888"
    assert found.name_node_web(CLUSTER) == "http://rm:9870"
    assert found.hdfs == ""


def test_servers_are_where_the_files_say(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        yarn={
            "yarn.resourcemanager.hostname": "master",
            "yarn.resourcemanager.webapp.address": "${yarn.resourcemanager.hostname}:9088",
        },
        mapred={"mapreduce.jobhistory.webapp.address": "0.0.0.0:9888"},
        hdfs={
            "dfs.namenode.rpc-address": "names:8020",
            "dfs.namenode.http-address": "names:9888",
        },
    )
    assert found.resource_manager(CLUSTER) == ("master", 9088)
    # All addresses of its machine, which is the map's.
    assert found.history(CLUSTER) == "http://rm:9888"
    assert found.name_node_web(CLUSTER) == "http://names:9888"
    assert found.hdfs == "hdfs://names:8020"
    both = read(tmp_path, hdfs={"dfs.nameservices": "one,two", "dfs.namenode.rpc-address": "n:1"})
    assert both.hdfs == "hdfs://one"


def test_a_plans_properties_have_the_last_word_and_the_site_keeps_its_own(tmp_path: Path) -> None:
    site, temporary = tmp_path / "site", tmp_path / "tmp"
    site.mkdir()
    temporary.mkdir()
    (site / "hadoop-env.sh").write_text("export A=b\n")
    found = read(site, mapred={"mapreduce.job.reduces": "9", "mapreduce.map.memory.mb": "512"})
    before = {path.name: path.read_bytes() for path in site.iterdir()}
    with found.changed({"mapreduce.job.reduces": "2"}, temporary) as copy:
        told = site_properties(copy)
        assert told["mapreduce.job.reduces"] == "2"
        assert told["mapreduce.map.memory.mb"] == "512"
        assert told["fs.defaultFS"] == "lustre:///"
        assert (copy / "hadoop-env.sh").read_text() == "export A=b\n"
        assert all((copy / name).exists() for name in SITE_FILES)
    assert not list(temporary.iterdir())
    assert {path.name: path.read_bytes() for path in site.iterdir()} == before


def test_a_directory_without_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no Hadoop configuration is here; .*--hadoop-conf"):
        SiteConfiguration.read(tmp_path)


def test_a_site_whose_files_are_not_on_lustre_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"fs\.defaultFS is hdfs://n:8020: jobs would not be on"):
        read(tmp_path, core={"fs.defaultFS": "hdfs://n:8020"})


def test_a_site_s_defaults_make_no_system_another_one(tmp_path: Path) -> None:
    """On a site every job has VAS's shuffle and warm containers; stock's arms must not."""
    site, temporary = tmp_path / "site", tmp_path / "tmp"
    site.mkdir()
    temporary.mkdir()
    on = {**SHUFFLE, TAGS_KEY: "mine, vas-shuffle", REUSE_KEY: "auto"}
    on[OPTIONS_KEY] = f"-Xmx1024m {MASTER}"
    on["mapreduce.map.memory.mb"] = "1024"
    found = read(site, mapred=on)
    with found.changed({}, temporary) as copy:
        stock = site_properties(copy)
    assert not {value for value in stock.values() if "org.vas.shuffle" in value}
    assert (stock[TAGS_KEY], stock[REUSE_KEY], stock[OPTIONS_KEY]) == ("mine", "off", "-Xmx1024m")
    assert stock["mapreduce.map.memory.mb"] == "1024"
    with found.changed(SHUFFLE, temporary) as copy:
        ours = site_properties(copy)
    assert ours.items() >= SHUFFLE.items()
    assert ours[REUSE_KEY] == "off"
    assert switched_off(_ON_LUSTRE) == {}
