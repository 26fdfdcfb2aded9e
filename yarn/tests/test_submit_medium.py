"""`vas submit --shuffle`: which medium a job's map output gets, and what it is told."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from vas_cluster.hadoop import configuration_xml
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_yarn.lint.rules import (
    COLLECTOR_KEY,
    LOCAL_COLLECTOR,
    MERGE_KEY,
    SWITCH_KEY,
    TAGS_KEY,
    TLS_FILE_KEY,
    TLS_KEY,
)
from vas_yarn.profiles import NODE_SHUFFLE, SHUFFLE, STOCK_SHUFFLE
from vas_yarn.submit.medium import (
    SERVICE,
    SERVICE_KEY,
    as_asked,
    choose_medium,
)

EXAMPLE = Path(__file__).parents[2] / "cluster" / "examples" / "four-oss.yaml"
DAEMON = {SERVICE_KEY: SERVICE, "fs.defaultFS": "hdfs://nn"}
MOUNT = "/mnt/lustre"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with a jar and a configuration directory, without a map of the site."""
    monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    monkeypatch.setenv("VAS_CLUSTER", str(tmp_path / "none.yaml"))
    zipfile.ZipFile(tmp_path / "my.jar", "w").close()
    write(tmp_path, {"fs.defaultFS": "hdfs://nn"})
    return tmp_path


def write(site: Path, properties: dict[str, str]) -> None:
    (site / "core-site.xml").write_text(configuration_xml(properties))


@pytest.mark.parametrize(
    ("of_site", "mount", "medium", "why"),
    [
        ({}, MOUNT, "lustre", "the site has Lustre"),
        ({"fs.defaultFS": "lustre:///"}, None, "lustre", "the site has Lustre"),
        ({"vas.lustre.mount": MOUNT}, None, "lustre", "the site has Lustre"),
        (DAEMON | {"fs.defaultFS": "lustre:///"}, MOUNT, "lustre", "the site has Lustre"),
        (DAEMON, None, "node", "the site has no Lustre, and its nodes run vas-shuffled"),
        (DAEMON, MOUNT, "node", "yarn.app.mapreduce.am.staging-dir is on hdfs, and its nodes"),
        (DAEMON | {TLS_KEY: "true"}, None, "stock", "vas-shuffled has no TLS"),
        (DAEMON | {TLS_KEY: "true", TLS_FILE_KEY: "/pem"}, None, "node", "the site has no Lustre"),
        ({"fs.defaultFS": "hdfs://nn"}, None, "stock", "is not vas-shuffled's"),
        ({"fs.defaultFS": "file:///"}, MOUNT, "stock", "is on file, and"),
        ({"fs.defaultFS": "file:///", "vas.shuffle.local-staging": "true"}, MOUNT, "lustre", ""),
        ({SWITCH_KEY: "false"}, MOUNT, None, "the site's vas.shuffle.enabled is false"),
        ({}, None, None, "nothing is known of the site"),
    ],
)
def test_auto_takes_what_the_site_has(
    of_site: dict[str, str], mount: str | None, medium: str | None, why: str
) -> None:
    found = choose_medium("short", of_site, {}, mount)
    assert found.medium == medium
    assert why in found.why


@pytest.mark.parametrize("key", [COLLECTOR_KEY, MERGE_KEY, SWITCH_KEY])
def test_auto_leaves_the_users_own_word(key: str) -> None:
    assert choose_medium("short", DAEMON, {key: "x"}, None).medium is None
    assert choose_medium("off", DAEMON, {}, None).why == "as profile off says"
    assert choose_medium("tuned.xml", DAEMON, {}, None).medium is None


def submitted(site: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    """The properties of a dry run, and its medium by the name `medium`."""
    argv = ["submit", "--dry-run", "--json", "--profile", "short", *words]
    assert run_command([*argv, str(site / "my.jar"), "Main", "/in"]) == 0
    found = json.loads(capsys.readouterr().out)
    properties: dict[str, str] = found["properties"]
    return properties | {"medium": found["shuffle"]["medium"]}


@pytest.mark.parametrize(
    ("medium", "switches"), [("lustre", SHUFFLE), ("node", NODE_SHUFFLE), ("stock", STOCK_SHUFFLE)]
)
def test_a_medium_sets_its_classes(
    medium: str, switches: dict[str, str], site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(site, {SWITCH_KEY: "false"})
    found = submitted(site, capsys, "--shuffle", medium)
    assert found.items() >= switches.items()
    assert found["medium"] == medium
    # Map output on a node is lost with it: the ResourceManager must not be told otherwise.
    assert found[TAGS_KEY] == ("vas-shuffle" if medium == "lustre" else "")
    assert found[SWITCH_KEY] == ("false" if medium == "stock" else "true")


def test_auto_on_nodes_with_daemons(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(site, DAEMON)
    argv = ["submit", "--dry-run", "--profile", "short", str(site / "my.jar"), "Main", "/in"]
    assert run_command(argv) == 0
    printed = capsys.readouterr()
    assert f"-D {COLLECTOR_KEY}={NODE_SHUFFLE[COLLECTOR_KEY]} " in printed.out
    assert f"-D {MERGE_KEY}={NODE_SHUFFLE[MERGE_KEY]}" in printed.out
    assert f"-D {TAGS_KEY}= " in printed.out
    assert "shuffle node: the site has no Lustre, and its nodes run vas-shuffled" in printed.err
    assert "warning" not in printed.err


def test_the_users_classes_win(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (site / "own.xml").write_text(configuration_xml({MERGE_KEY: "org.example.Own"}))
    found = submitted(site, capsys, "--shuffle", "node", "--conf", str(site / "own.xml"))
    assert found[MERGE_KEY] == "org.example.Own"


def test_a_node_shuffle_without_daemons_is_warned_of(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["submit", "--dry-run", "--shuffle", "node", str(site / "my.jar"), "Main", "/in"]
    assert run_command(argv) == 0
    assert f"warning: {SERVICE_KEY} is not {SERVICE} here" in capsys.readouterr().err


def test_contradictions_are_refused() -> None:
    with pytest.raises(BadInput, match="has no TLS"):
        as_asked("node", "short", {TLS_KEY: "true"}, {})
    with pytest.raises(BadInput, match="profile off is stock's shuffle"):
        as_asked("node", "off", {}, {})
    assert as_asked("stock", "off", {TLS_KEY: "true"}, {}).medium == "stock"


@pytest.mark.parametrize(
    ("collector", "warned"),
    [("org.vas.shuffle.map.LocalCollector", False), ("org.example.Own", True)],
)
def test_lint_knows_whose_files_the_daemon_serves(
    collector: str, warned: bool, site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(site, DAEMON)
    argv = ["submit", "--dry-run", "--shuffle", "node", str(site / "my.jar"), "Main"]
    assert run_command([*argv, f"-D{COLLECTOR_KEY}={collector}", "/in"]) == 0
    said = "vas-shuffled serves files as Hadoop's own collector writes them"
    assert (said in capsys.readouterr().err) is warned


def test_lint_knows_the_medium(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(site, DAEMON)
    argv = ["submit", "--dry-run", str(site / "my.jar"), "Main", f"-D{TLS_KEY}=true"]
    assert run_command([*argv, f"-D{MERGE_KEY}={NODE_SHUFFLE[MERGE_KEY]}", "/in"]) == 0
    warned = capsys.readouterr().err
    assert "mapreduce.shuffle.ssl.enabled is true, and vas-shuffled has no TLS (" in warned


@pytest.mark.parametrize(
    ("medium", "key", "value"),
    [
        ("node", COLLECTOR_KEY, SHUFFLE[COLLECTOR_KEY]),
        ("stock", COLLECTOR_KEY, SHUFFLE[COLLECTOR_KEY]),
        ("lustre", COLLECTOR_KEY, STOCK_SHUFFLE[COLLECTOR_KEY]),
        ("lustre", COLLECTOR_KEY, LOCAL_COLLECTOR),
        ("stock", MERGE_KEY, NODE_SHUFFLE[MERGE_KEY]),
        ("lustre", MERGE_KEY, STOCK_SHUFFLE[MERGE_KEY]),
        ("node", SWITCH_KEY, "false"),
        ("stock", SWITCH_KEY, "true"),
    ],
)
def test_no_job_writes_to_one_medium_and_reads_another(
    site: Path, capsys: pytest.CaptureFixture[str], medium: str, key: str, value: str
) -> None:
    words = ["--shuffle", medium, "--dry-run", str(site / "my.jar"), "org.Main", "-D"]
    assert run_command(["submit", *words, f"{key}={value}", "/in"]) == 2
    assert f"{key}={value} is of another medium" in capsys.readouterr().err


def test_what_is_of_the_same_medium_may_be_said_twice() -> None:
    for medium, said in (("node", NODE_SHUFFLE), ("stock", STOCK_SHUFFLE), ("lustre", SHUFFLE)):
        assert as_asked(medium, "short", {}, said).medium == medium
    assert as_asked("node", "short", {}, {COLLECTOR_KEY: LOCAL_COLLECTOR}).medium == "node"
    assert as_asked("stock", "short", {}, {SWITCH_KEY: "false"}).medium == "stock"
