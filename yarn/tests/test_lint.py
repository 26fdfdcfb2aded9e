"""`vas lint`: each rule by the smallest configuration that breaks it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from vas_cluster import load_cluster
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_yarn.lint.contradiction import number
from vas_yarn.lint.keys import KEYS
from vas_yarn.lint.rules import COLLECTOR, COLLECTOR_KEY, MERGE, MERGE_KEY, contradictions
from vas_yarn.profiles import SHUFFLE
from vas_yarn.site_files import as_mapping, read_xml

EXAMPLE = Path(__file__).parents[2] / "cluster" / "examples" / "four-oss.yaml"
VAS = SHUFFLE
SORT = "mapreduce.task.io.sort.mb"
OPTS = "mapreduce.map.java.opts"
MASTER_MB = "yarn.app.mapreduce.am.resource.mb"
MASTER_VCORES = "yarn.app.mapreduce.am.resource.cpu-vcores"
SLOW_START = "mapreduce.job.reduce.slowstart.completedmaps"


def keys(properties: dict[str, str], site: bool = False) -> list[str]:
    cluster = load_cluster(EXAMPLE) if site else None
    return [one.key for one in contradictions(as_mapping(properties), cluster)]


@pytest.mark.parametrize(
    ("properties", "key"),
    [
        ({SORT: "900", OPTS: "-Xmx1000m"}, SORT),
        ({SORT: "700", OPTS: "-Xmx1g -Xmn400m"}, SORT),
        ({SORT: "500", "mapreduce.map.memory.mb": "512"}, SORT),
        ({OPTS: "-Xmx96m"}, SORT),
        ({OPTS: "-Xmx8zz"}, OPTS),
        ({SORT: "256MB"}, SORT),
        ({SORT: "2048", OPTS: "-Xmx4g"}, SORT),
        ({OPTS: "-Xmx1g", "mapreduce.map.memory.mb": "1024"}, "mapreduce.map.memory.mb"),
        (
            {"mapreduce.reduce.java.opts": "-Xmx4g", "mapreduce.reduce.memory.mb": "2048"},
            "mapreduce.reduce.memory.mb",
        ),
        (
            {"mapreduce.map.memory.mb": "9000", "yarn.scheduler.maximum-allocation-mb": "8192"},
            "mapreduce.map.memory.mb",
        ),
        (
            {"mapreduce.reduce.cpu.vcores": "8", "yarn.scheduler.maximum-allocation-vcores": "4"},
            "mapreduce.reduce.cpu.vcores",
        ),
        ({"mapreduce.map.cpu.vcores": "two"}, "mapreduce.map.cpu.vcores"),
        ({"yarn.scheduler.maximum-allocation-mb": "1024"}, MASTER_MB),
        (
            {MASTER_VCORES: "5", "yarn.scheduler.maximum-allocation-vcores": "4"},
            MASTER_VCORES,
        ),
        ({SLOW_START: "0"}, SLOW_START),
        ({SLOW_START: "5"}, SLOW_START),
        ({"mapreduce.reduce.input.buffer.percent": "70"}, "mapreduce.reduce.input.buffer.percent"),
        (VAS | {COLLECTOR_KEY: f"{COLLECTOR},org.example.Other"}, COLLECTOR_KEY),
        (VAS | {MERGE_KEY: "org.example.Other"}, MERGE_KEY),
        ({MERGE_KEY: MERGE, "mapreduce.job.tags": "vas-shuffle"}, COLLECTOR_KEY),
        (VAS | {"mapreduce.job.tags": "nightly"}, "mapreduce.job.tags"),
        ({"mapreduce.job.tags": "vas-shuffle"}, "mapreduce.job.tags"),
        (VAS | {"vas.shuffle.enabled": "false"}, "mapreduce.job.tags"),
        (VAS | {"fs.defaultFS": "hdfs://nn"}, "yarn.app.mapreduce.am.staging-dir"),
        (
            VAS | {"fs.defaultFS": "lustre:///", "yarn.app.mapreduce.am.staging-dir": "file:///s"},
            "yarn.app.mapreduce.am.staging-dir",
        ),
        ({"dfs.blocksize": "512m"}, "dfs.blocksize"),
        ({"dfs.datanode.sync.behind.writes": "true"}, "dfs.datanode.sync.behind.writes"),
    ],
)
def test_a_contradiction_is_found_alone(properties: dict[str, str], key: str) -> None:
    assert keys(properties) == [key]


@pytest.mark.parametrize(
    "properties",
    [
        {
            "yarn.scheduler.maximum-allocation-mb": "1024",
            "yarn.app.mapreduce.am.resource.memory-mb": "1024",
        },
        {
            "yarn.scheduler.maximum-allocation-vcores": "4",
            "mapreduce.reduce.cpu.vcores": "8",
            "mapreduce.job.reduces": "0",
        },
        {
            "yarn.scheduler.maximum-allocation-vcores": "4",
            "mapreduce.map.cpu.vcores": "8",
            "mapreduce.map.resource.vcores": "4",
        },
        {},
        VAS | {"fs.defaultFS": "lustre:///"},
        VAS | {"mapreduce.job.tags": "nightly, vas-shuffle"},
        {COLLECTOR_KEY: COLLECTOR, "vas.shuffle.enabled": "false"},
        {SORT: "512", OPTS: "-Xms1g -Xmx512m -Xmx1g", "mapreduce.map.memory.mb": "1280"},
        {"fs.defaultFS": "hdfs://nn", "dfs.blocksize": "512m"},
        {SLOW_START: "0.8"},
    ],
)
def test_what_fits_together_is_left_alone(properties: dict[str, str]) -> None:
    assert keys(properties) == []


@pytest.mark.parametrize(
    ("properties", "key"),
    [
        ({"mapreduce.map.memory.mb": "70000"}, "mapreduce.map.memory.mb"),
        (
            {"yarn.nodemanager.resource.memory-mb": "66000"},
            "yarn.nodemanager.resource.memory-mb",
        ),
        (
            {"mapreduce.job.reduces": "64", "mapreduce.reduce.memory.mb": "4096"},
            SLOW_START,
        ),
    ],
)
def test_guests_bound_what_containers_take(properties: dict[str, str], key: str) -> None:
    assert keys(properties) == []
    assert keys(properties, site=True) == [key]


def test_the_published_tuning_table_contradicts_itself() -> None:
    """TPCx-HS tuning talk, Hadoop table: a sort buffer larger than the heap it lies in."""
    table = {
        "mapred.map.child.java.opts": "-Xmx800m -Xms800m -Xmn256m",
        "mapred.reduce.child.java.opts": "-Xmx1200m -Xmn256m",
        "io.sort.mb": "1024",
        "io.sort.spill.percent": "0.98",
        "mapred.job.reduce.input.buffer.percent": "0.7",
        "mapred.job.shuffle.input.buffer.percent": "0.75",
        "mapred.job.shuffle.merge.percent": "0.95",
    }
    (found,) = contradictions(as_mapping(table), None)
    assert (found.key, found.value) == ("io.sort.mb", "1024")
    assert "1024 MiB does not fit in a map's heap of 800 MiB" in found.why
    assert keys(table | {"mapred.reduce.slowstart.completed.maps": "0"}) == [
        "io.sort.mb",
        "mapred.reduce.slowstart.completed.maps",
    ]


def test_a_job_xml_is_read_as_hadoop_writes_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "job.xml"
    file.write_text(
        "<configuration>"
        "<property><name>dfs.replication</name><value>3</value>"
        "<source>hdfs-default.xml</source></property>"
        "<property><name>heap</name><value>800</value></property>"
        f"<property><name>{OPTS}</name><value>-Xmx${{heap}}m</value></property>"
        f"<property><name>{SORT}</name><value>1024</value></property>"
        "</configuration>"
    )
    assert run_command(["lint", str(file), "--json"]) == 3
    (row,) = json.loads(capsys.readouterr().out)
    assert row["key"] == SORT
    assert row["fix"].startswith("at most 640")
    assert run_command(["lint", str(file), "-D", f"{SORT}=256"]) == 0
    assert capsys.readouterr().out == "no contradictions\n"
    assert run_command(["lint", str(file)]) == 3
    assert SORT in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<configuration><property/></configuration>", "a <property> without a <name>"),
        ("<html/>", "is a <html>, not a Hadoop <configuration>"),
        ("{}", "is not XML"),
    ],
)
def test_what_is_no_configuration_is_one_line(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "job.xml"
    file.write_text(text)
    assert run_command(["lint", str(file)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("value", ["9" * 5000, "inf", "-inf", "nan", "1e999", "\u0663", "0", "-1"])
@pytest.mark.parametrize(
    "key",
    [
        "mapreduce.job.reduces",
        "mapreduce.map.memory.mb",
        "mapreduce.job.heap.memory-mb.ratio",
        SORT,
        OPTS,
    ],
)
def test_a_number_that_is_none_costs_no_rule_its_answer(key: str, value: str) -> None:
    heap = {OPTS: "-Xmx512m"}
    text = f"-Xmx{value}m" if key == OPTS else value
    conf = as_mapping(heap | {key: text})
    assert isinstance(list(contradictions(conf, None)), list)
    if value in ("inf", "-inf", "nan", "1e999"):
        assert key == OPTS or number(conf, key, 7) == 7


def test_references_are_replaced_as_often_as_hadoop_does() -> None:
    """Twenty times, one by one: all at once, each level doubled a value, or more."""
    chain = {f"k{n}": f"${{k{n + 1}}}" * 50 for n in range(40)}
    conf = as_mapping(chain | {"short": "${a}/${b}", "a": "${b}", "b": "c", "self": "x${self}"})
    assert len(conf.get("k0")) < 100_000
    assert (conf.get("short"), conf.get("self")) == ("c/c", "x" * 21 + "${self}")


def test_files_that_include_each_other_twice_are_refused(tmp_path: Path) -> None:
    """Thirty of them are 2^30 files to read."""
    head = '<configuration xmlns:xi="http://www.w3.org/2001/XInclude">'
    for n in range(30):
        include = f'<xi:include href="{n + 1}.xml"/>' * 2
        (tmp_path / f"{n}.xml").write_text(f"{head}{include}</configuration>")
    (tmp_path / "30.xml").write_text(f"{head}</configuration>")
    assert read_xml(tmp_path / "29.xml") == []
    with pytest.raises(BadInput, match=r"0\.xml: the files it includes are more than 100"):
        read_xml(tmp_path / "0.xml")


def test_bad_usage_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["lint"]) == 2
    assert run_command(["lint", "-D", "novalue"]) == 2
    assert "not of the form key=value" in capsys.readouterr().err


def test_a_key_that_vas_does_not_have_is_named_with_the_one_that_was_meant() -> None:
    (found,) = contradictions(as_mapping({"vas.shufle.enabled": "true"}), None)
    assert (found.key, found.fix) == ("vas.shufle.enabled", "did you mean vas.shuffle.enabled?")
    assert keys({"vas.cluster.file": "/etc/vas/cluster.yaml"}) == []


def test_the_keys_are_those_of_the_page() -> None:
    page = EXAMPLE.parents[2] / "docs/configuration.md"
    assert list(KEYS) == sorted(re.findall(r"^\| `(vas\.[^`]+)`", page.read_text(), re.M))
