"""The files that a hosting site such as GitHub reads name one version and pinned actions."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest
import yaml

from vas_core.repository import REPOSITORY

VERSION = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]["version"]
_YAML = sorted(REPOSITORY.glob(".github/**/*.yml"))


def loaded(name: str) -> Any:
    return yaml.safe_load((REPOSITORY / name).read_text())


def test_the_newest_change_and_the_citation_have_the_projects_version() -> None:
    changes = re.findall(r"^## (\S+)", (REPOSITORY / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes[0].rstrip(",") == VERSION
    citation = loaded("CITATION.cff")
    assert (citation["version"], citation["cff-version"]) == (VERSION, "1.2.0")
    assert {"message", "title", "authors"} <= citation.keys()


@pytest.mark.parametrize("file", _YAML, ids=lambda file: file.name)
def test_each_file_of_the_hosting_site_is_yaml(file: Any) -> None:
    assert isinstance(yaml.safe_load(file.read_text()), dict)


def test_ci_is_what_a_developer_runs_and_its_actions_are_pinned() -> None:
    steps = loaded(".github/workflows/ci.yml")["jobs"]["tests"]["steps"]
    assert steps[-1] == {"run": ".ci/run"}
    used = [step["uses"] for step in steps if "uses" in step]
    assert used and all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name) for name in used)


def test_updates_are_looked_for_where_versions_are_pinned() -> None:
    updates = loaded(".github/dependabot.yml")["updates"]
    for update in updates:
        assert (REPOSITORY / update["directory"].strip("/")).is_dir()
    assert {update["package-ecosystem"] for update in updates} >= {"pip", "maven", "cargo"}
