"""Each crate of vas-shuffled has an allowed licence, and the list of them says what cargo says."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from vas_ansible import audit as module
from vas_ansible.audit import CRATES_LOCK, locked_crates
from vas_ansible.licences import allows, licence_problems, read_licences
from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_core.process import run
from vas_core.sbom import SbomComponent

_METADATA = ("cargo", "metadata", "--locked", "--offline", "--format-version", "1")
_ONLY = ("--filter-platform", "x86_64-unknown-linux-gnu")


def test_each_locked_crate_has_an_allowed_licence_and_no_other_is_listed() -> None:
    crates = set(locked_crates(CRATES_LOCK.read_text()))
    assert licence_problems(crates, read_licences()) == []
    assert set(read_licences()) == crates


@pytest.mark.machine
@pytest.mark.skipif(not shutil.which("cargo"), reason="cargo is not installed")
def test_the_list_says_what_cargo_says_of_the_crates_that_are_here() -> None:
    """Cargo downloads no crates of other systems, so the test asks about Linux's alone."""
    of = ("--manifest-path", str(CRATES_LOCK.with_name("Cargo.toml")))
    told = run([*_METADATA, *_ONLY, *of], check=False)
    if told.status:
        pytest.skip("the crates are not downloaded: `./vas build --native` does it")
    found = {
        SbomComponent("cargo", package["name"], package["version"]): package["license"]
        for package in json.loads(told.stdout)["packages"]
        if package["source"]
    }
    assert len(found) > 30
    assert {crate: read_licences().get(crate) for crate in found} == found


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MIT/Apache-2.0", True),
        ("GPL-3.0-only OR MIT", True),
        ("GPL-3.0-only", False),
        ("(MIT OR GPL-2.0) AND Unicode-3.0", True),
        ("MIT AND GPL-2.0-only", False),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", True),
        ("", False),
        ("(MIT AND GPL-2.0) OR GPL-3.0", False),
    ],
)
def test_an_expression_is_met_or_not(expression: str, allowed: bool) -> None:
    assert allows(expression) is allowed


def test_the_audit_ends_with_status_1_for_a_crate_of_unknown_licence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [SbomComponent("cargo", "new", "1"), SbomComponent("maven", "jline", "3.9.0")]
    monkeypatch.setattr(module, "components_of_nodes", lambda: found)
    assert run_command(["provision", "audit"]) == 1
    said = capsys.readouterr().err
    assert "new 1: its licence is in no line of the list" in said
    assert "jline 3.9.0: CVE-2023-50572" in said


def test_a_line_with_missing_columns_is_named(tmp_path: Path) -> None:
    (tmp_path / "l.tsv").write_text("#x\nsnap\t1\n")
    with pytest.raises(BadInput, match=r"has 2 columns, not 3"):
        read_licences(tmp_path / "l.tsv")
