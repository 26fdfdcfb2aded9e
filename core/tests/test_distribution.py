"""VAS without its extras: what a guest has."""

from __future__ import annotations

import sys

import pytest

from vas_core import cli
from vas_core.distribution import extras_with
from vas_core.process import run

# Python's own way to say that a module is not there.
_WITHOUT = "import sys; sys.modules.update(dict.fromkeys({names!r}))"
_OF_EXTRAS = ["numpy", "scipy", "simpy", "ansible"]
_HELP = "from vas_core.cli import run_command; sys.exit(run_command({words!r}))"


def test_the_extras_of_a_library_are_those_of_the_metadata() -> None:
    assert extras_with("numpy") == ["affinity", "bench"]
    assert extras_with("scipy.stats") == ["bench"]
    assert extras_with("click") == extras_with("no_such_module") == []


@pytest.mark.machine
@pytest.mark.unhurried
@pytest.mark.parametrize(
    "words", [["--help"], ["route", "plan", "--help"], ["job", "locality", "--help"]]
)
def test_a_guest_s_commands_need_no_extra(words: list[str]) -> None:
    program = "\n".join((_WITHOUT.format(names=_OF_EXTRAS), _HELP.format(words=words)))
    said = run([sys.executable, "-c", program], check=False)
    assert said.status == 0, said.stderr
    assert "Usage" in said.stdout


@pytest.mark.machine
@pytest.mark.unhurried
def test_a_command_without_its_extra_names_it() -> None:
    words = ["bench", "stats", "--help"]
    program = "\n".join((_WITHOUT.format(names=["scipy"]), _HELP.format(words=words)))
    said = run([sys.executable, "-c", program], check=False)
    fix = "pip install 'vas-lustre[bench]'"
    assert said.stderr == f"vas: the library scipy is not installed; {fix}\n"
    assert said.status == 77


def test_another_missing_module_is_a_defect_of_vas(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_context: object, _name: str) -> None:
        raise ModuleNotFoundError("No module named 'vas_lost'", name="vas_lost")

    monkeypatch.setattr(cli.vas, "get_command", broken)
    with pytest.raises(ModuleNotFoundError, match="vas_lost"):
        cli.run_command(["doctor"])
