"""S6: what reaches a node against the list of advisories."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from vas_ansible import audit as module
from vas_ansible.audit import (
    CRATES_LOCK,
    Advisory,
    audit,
    is_older,
    locked_crates,
    locked_libraries,
    read_advisories,
)
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.repository import REPOSITORY
from vas_core.sbom import SbomComponent, file_components
from vas_core.wheels import NODE_LOCK

HOLE = Advisory("maven", "jline", "3.25.0", "CVE-2023-50572", "")


@pytest.mark.parametrize(
    ("version", "fixed", "older"),
    [
        ("3.9.0", "3.25.0", True),
        ("3.25.0", "3.25.0", False),
        ("33.4.8-jre", "32.0.1", False),
        ("6.2.1.jre7", "10.2.4", True),
        ("9.4.58.v20250814", "9.4.57", False),
        ("4.1.130.Final", "4.1.129", False),
        ("2.6", "", True),
    ],
)
def test_S6_versions_are_compared_by_their_numbers(version: str, fixed: str, older: bool) -> None:
    assert is_older(version, fixed) is older


def test_S6_only_the_library_of_that_name_and_kind_is_found() -> None:
    components = [
        SbomComponent("maven", "jline", "3.9.0"),
        SbomComponent("pypi", "jline", "3.9.0"),
        SbomComponent("maven", "jline-terminal", "3.9.0"),
        SbomComponent("maven", "jline", "3.26.0"),
    ]
    (finding,) = audit(components, [HOLE])
    assert finding.component == components[0]


def test_S6_the_end_of_life_of_jetty_9_is_named_with_its_source() -> None:
    jars = ["jetty-server-9.4.58.v20250814.jar", "jetty-http-9.4.58.v20250814.jar"]
    found = audit(list(file_components(jars)), read_advisories())
    (end,) = [each.advisory for each in found if "end of life" in each.advisory.identifier]
    assert "https://github.com/jetty/jetty.project/issues/7958" in end.identifier
    assert {each.advisory.identifier for each in found} >= {"CVE-2026-2332", "CVE-2025-11143"}
    assert all("Hadoop 3.5 needs Jetty 9.4" in each.advisory.accepted for each in found)
    newer = ["jetty-server-12.0.39.jar", "jetty-http-12.0.39.jar"]
    assert audit(list(file_components(newer)), read_advisories()) == []


@pytest.mark.parametrize(
    "lock", sorted(NODE_LOCK.parent.glob("python-*.txt")), ids=lambda p: p.name
)
def test_S6_a_lock_is_free_of_known_holes_has_hashes_and_stands_in_the_pages_table(
    lock: Path,
) -> None:
    text = lock.read_text()
    libraries = list(locked_libraries(text))
    blocks = [block for block in text.replace("\\\n", "").splitlines() if block]
    assert len(libraries) == len(blocks) > 0
    assert all("--hash=sha256:" in block for block in blocks)
    assert audit(libraries, read_advisories()) == []
    rows = (REPOSITORY / "docs/supply-chain.md").read_text().splitlines()
    assert [row for row in rows if row.startswith("|") and f"`core/locks/{lock.name}`" in row]


@pytest.mark.parametrize("extra", ["kerberos", "mrjob", "notebook", "spark", "spark-build"])
def test_S6_the_lock_of_an_extra_pins_what_the_project_pins(extra: str) -> None:
    wanted = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    pinned = {word.lower() for word in wanted["optional-dependencies"][extra]}
    locked = locked_libraries((NODE_LOCK.parent / f"python-{extra}.txt").read_text())
    assert pinned <= {f"{library.name}=={library.version}" for library in locked}


def test_S6_the_lock_of_nodes_has_what_its_libraries_need() -> None:
    names = {library.name for library in locked_libraries(NODE_LOCK.read_text())}
    assert {"pydantic-core", "markupsafe"} <= names


def test_S6_the_crates_of_the_daemon_are_compared_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    crates = list(locked_crates(CRATES_LOCK.read_text()))
    assert {"rustix", "hmac", "sha2"} <= {crate.name for crate in crates}
    assert "vas-shuffled" not in {crate.name for crate in crates}
    monkeypatch.setattr(module, "find_hadoop", lambda: tmp_path)
    monkeypatch.setattr(module, "find_plugins", lambda: tmp_path / "vas-yarn-plugins-0.1.0.jar")
    assert set(crates) <= set(module.components_of_nodes())
    assert audit(crates, read_advisories()) == []
    older = CRATES_LOCK.read_text().replace(
        'name = "rustix"\nversion = "1', 'name = "rustix"\nversion = "0'
    )
    (finding,) = audit(list(locked_crates(older)), read_advisories())
    assert finding.advisory.identifier == "GHSA-c827-hfw6-qwvm"


def test_S6_a_library_with_a_hole_ends_the_audit_with_status_1(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = list(file_components(["jline-3.9.0.jar", "gson-2.9.0.jar"]))
    monkeypatch.setattr(module, "components_of_nodes", lambda: found)
    assert run_command(["provision", "audit", "--json"]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["findings"][0]["advisory"] == "CVE-2023-50572"
    assert "jline 3.9.0: CVE-2023-50572, fixed in 3.25.0" in said.err


def test_S6_an_accepted_hole_is_printed_and_no_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr(module, "components_of_nodes", lambda: [SbomComponent("maven", "a", "1")])
    list_ = tmp_path / "advisories.tsv"
    list_.write_text("#x\nmaven\ta\t2\tCVE-1\tnothing of ours calls it\n")
    assert run_command(["provision", "audit", "--advisories", str(list_)]) == 0
    assert "accepted: nothing of ours calls it" in capsys.readouterr().out


def test_S6_a_line_with_missing_columns_is_named(tmp_path: Path) -> None:
    file = tmp_path / "advisories.tsv"
    file.write_text("#x\nmaven\ta\n")
    with pytest.raises(BadInput, match=r"has 2 columns, not 5") as caught:
        read_advisories(file)
    assert f"{file}:2" in str(caught.value)
