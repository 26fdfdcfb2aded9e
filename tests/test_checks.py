"""What `./vas test` runs, and what its fast form does."""

from __future__ import annotations

import re
import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_core.process import run
from vas_core.repository import REPOSITORY
from vas_tests.checks import CheckLoad, Extent, SuiteCheck, chosen_checks, other_hadoops, run_checks
from vas_tests.commands import print_outcomes

# Which checks there are depends on the compilers of this machine: each is asked for its version.
pytestmark = pytest.mark.machine


def listed(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert run_command(["test", "--list", *options]) == 0
    return capsys.readouterr().out


@pytest.mark.machine
def test_the_plugins_compile_against_every_hadoop_that_the_table_of_tests_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = (REPOSITORY / "docs/evidence/tests.md").read_text()
    assert f"| Hadoop {', '.join(other_hadoops())} |" in page
    assert {"3.3.6", "3.4.2"} <= set(other_hadoops())
    commands = listed(capsys, "--all")
    for version in other_hadoops():
        assert f"-Dhadoop.version={version} " in commands
    assert "hadoop.version" not in listed(capsys)


def test_the_fast_run_has_java_and_no_daemon() -> None:
    fast = [check.name for check in chosen_checks(Extent.FAST)]
    assert fast == [
        *("ruff", "ruff format", "mypy", "shellcheck", "yamllint", "python", "java layout")
    ]


@pytest.mark.unhurried
def test_shellcheck_reports_what_is_in_sourced_files(tmp_path: Path) -> None:
    for name in ("vas", ".ci", "core/bootstrap"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy)(
            REPOSITORY / name, tmp_path / name
        )
    argv = next(check.argv for check in chosen_checks(Extent.FAST) if check.name == "shellcheck")
    assert run(argv, cwd=tmp_path).stdout == ""
    with (tmp_path / "core/bootstrap/plugins.bash").open("a") as script:
        script.write("remove() { rm -rf $1/x; }\n")
    assert "In core/bootstrap/plugins.bash" in run(argv, cwd=tmp_path, check=False).stdout


@pytest.mark.machine
def test_the_jars_are_built_before_the_lab_needs_them() -> None:
    full = [check.name for check in chosen_checks(Extent.USUAL)]
    assert full.index("java") < full.index("daemons") < full.index("lab")
    assert "java layout" not in full
    ci = [check.name for check in chosen_checks(Extent.CI)]
    compiled = [f"java, Hadoop {version}" for version in other_hadoops()]
    assert ci == [*full, *compiled, "java, at length", "lab, at length"]
    assert [check.name for check in chosen_checks(Extent.ALL)] == [*ci, "lab, nightly"]


def test_a_linter_that_failed_says_why_once_more_at_the_end(
    capfd: pytest.CaptureFixture[str],
) -> None:
    speaks = "print('line 3: too long'); raise SystemExit(1)"
    linter = SuiteCheck("linter", (sys.executable, "-c", speaks))
    (outcome,) = run_checks([linter])
    assert (outcome.status, outcome.last_lines) == (1, ("line 3: too long",))
    print_outcomes([outcome])
    shown = capfd.readouterr().out
    assert shown.count("line 3: too long") == 2
    assert "== linter failed; its last lines:\nline 3: too long\n" in shown


@pytest.mark.machine
def test_every_slow_test_is_in_one_of_four_checks(capsys: pytest.CaptureFixture[str]) -> None:
    commands = listed(capsys, "--all")
    assert "-m 'slow and not long and not nightly and not lab'\n" in commands
    assert "-m 'slow and not long and not nightly and lab'\n" in commands
    assert "-m 'long and not nightly'\n" in commands
    assert "-m nightly\n" in commands


def test_the_list_is_commands_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert "yarn-plugins/pom.xml -pl layout test\n" in listed(capsys, "--fast")


@pytest.mark.unhurried
def test_the_tests_that_a_check_skips_are_counted(tmp_path: Path) -> None:
    """The file of tests is made here: the project's own conftest.py counts for it, too."""
    file = tmp_path / "test_made.py"
    skips = "import pytest\n\ndef test_one():\n    pytest.skip('lacks it')\n"
    file.write_text(skips)
    counts = ("-p", "conftest", "-c", str(REPOSITORY / "pyproject.toml"), str(file))
    python = SuiteCheck("made", (sys.executable, "-m", "pytest", "-q", *counts))
    other = SuiteCheck("true", ("true",))
    nothing, none_of_pytest = run_checks([python, other])
    assert (nothing.status, nothing.skipped, nothing.ran_nothing) == (0, 1, True)
    assert (none_of_pytest.skipped, none_of_pytest.ran_nothing) == (None, False)
    file.write_text(f"{skips}\ndef test_two():\n    pass\n")
    (some,) = run_checks([python])
    assert (some.skipped, some.passed, some.ran_nothing) == (1, 1, False)


@pytest.mark.unhurried
def test_what_yields_runs_beside_the_first_that_waits(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    mark, end = tmp_path / "mark", tmp_path / "end"
    yields = SuiteCheck(
        "yields",
        ("sh", "-c", f"echo began; touch {mark}; until [ -e {end} ]; do sleep 0.1; done; exit 3"),
        load=CheckLoad.YIELDS,
    )
    busy = SuiteCheck("busy", ("test", "!", "-e", str(mark)))
    waits = SuiteCheck(
        "waits",
        ("sh", "-c", f"until [ -e {mark} ]; do sleep 0.1; done; touch {end}"),
        load=CheckLoad.WAITS,
    )
    outcomes = run_checks([yields, busy, waits])
    assert [(o.check.name, o.status) for o in outcomes] == [
        ("yields", 3),
        ("busy", 0),
        ("waits", 0),
    ]
    assert capfd.readouterr().out == "== busy\n== waits\n== yields\nbegan\n\n"
    mark.unlink()
    assert [o.status for o in run_checks([yields, busy])] == [3, 0]


@pytest.mark.unhurried
def test_a_test_with_the_shared_lab_is_marked(tmp_path: Path) -> None:
    file = tmp_path / "test_made.py"
    file.write_text("def test_in_it(lab): pass\n\ndef test_beside_it(tmp_path): pass\n")
    pytest_ = (sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "conftest")
    argv = (*pytest_, "-c", str(REPOSITORY / "pyproject.toml"), str(file), "-m", "lab")
    found = run(argv, cwd=REPOSITORY).stdout
    assert "::test_in_it" in found
    assert "::test_beside_it" not in found


@pytest.mark.unhurried
def test_files_without_a_slow_test_are_not_imported_for_slow_tests(tmp_path: Path) -> None:
    (tmp_path / "test_quick.py").write_text("raise RuntimeError\n")
    slow = "import pytest\n\n@pytest.mark.slow\ndef test_slow(): pass\n"
    (tmp_path / "test_slow.py").write_text(slow)
    pytest_ = (sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "conftest")
    argv = (*pytest_, "-c", str(REPOSITORY / "pyproject.toml"), str(tmp_path))
    marks = next(check.argv[-1] for check in chosen_checks(Extent.USUAL) if check.name == "daemons")
    assert "1 test collected" in run([*argv, "-m", marks], cwd=REPOSITORY).stdout
    assert run([*argv, "-m", "slow or machine"], cwd=REPOSITORY, check=False).status != 0


def test_whatever_is_long_is_slow_too() -> None:
    """Else it would not be run: it is the mark `slow` that files are looked for by."""
    files = [*REPOSITORY.glob("*/tests/test_*.py"), *REPOSITORY.glob("tests/test_*.py")]
    texts = {file: file.read_text() for file in files}
    assert len(texts) > 200
    longer = ("mark.long", "mark.nightly")
    of_long = [file for file, text in texts.items() if any(mark in text for mark in longer)]
    assert [file for file in of_long if "mark.slow" not in texts[file]] == []


def test_after_the_minutes_no_long_test_begins_and_those_are_named(tmp_path: Path) -> None:
    for name in ("test_a.py", "test_b.py", "test_c.py"):
        (tmp_path / name).write_text("def test_1(): pass\ndef test_2(): pass\n")
    usual = SuiteCheck("usual", (sys.executable, "-m", "pytest", "-v", str(tmp_path)))
    long = replace(usual, longest_seconds=60)
    assert usual.until(0, 1) is usual

    in_time = run(long.until(time.time() + 3600, turn=4).argv, cwd=tmp_path).stdout
    assert re.findall(r"(\w+)\.py::test_\d PASSED", in_time) == [
        *("test_b", "test_b", "test_c", "test_c", "test_a", "test_a")
    ]
    late = run(long.until(time.time() + 30, turn=0).argv, cwd=tmp_path).stdout
    assert "6 skipped" in late
    assert "not begun, as the time was up: 6" in late
    assert "\ntest_c.py::test_2\n" in late


def test_minutes_cut_short_what_is_long_or_nightly_and_nothing_else(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with_limit = listed(capsys, "--ci", "--minutes", "70")
    limited = [line.split("  ")[0] for line in with_limit.splitlines() if "--begin-before" in line]
    assert limited[0] == "lab, at length"
    assert len(limited) == 2
    assert limited[1].startswith("nightly, slice ")
    assert "--begin-before" not in listed(capsys, "--ci")
