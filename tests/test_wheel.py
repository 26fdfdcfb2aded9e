"""The wheel of VAS has every file of the packages, and its commands run without a clone."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

import pytest

from vas_core.process import Completed, run
from vas_core.repository import REPOSITORY
from vas_core.wheels import build_own_wheel

pytestmark = [pytest.mark.machine, pytest.mark.unhurried]

_LOAD_ALL = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from importlib.metadata import distribution
import vas_core
assert Path(vas_core.__file__).is_relative_to(sys.argv[1]), vas_core.__file__
import click
def load(command, context):
    for name in command.list_commands(context) if isinstance(command, click.Group) else ():
        load(command.get_command(context, name), context)
for entry in distribution("vas-lustre").entry_points.select(group="vas.commands"):
    command = entry.load()
    load(command, click.Context(command))
    print(entry.name)
"""
_RUN = """
import sys
sys.path.insert(0, sys.argv.pop(1))
from vas_core.cli import run_command
sys.exit(run_command(sys.argv[1:]))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_own_wheel(tmp_path_factory.mktemp("wheel"))


def test_it_has_every_file_of_the_packages(wheel: Path) -> None:
    listed = run(["git", "-C", REPOSITORY, "ls-files", "*/vas_*/*"]).stdout.splitlines()
    tracked = {name.partition("/")[2] for name in listed if (REPOSITORY / name).exists()}
    with zipfile.ZipFile(wheel) as opened:
        there = {name for name in opened.namelist() if ".dist-info/" not in name}
    assert sorted(tracked - there) == []
    assert "vas_image/build/quick_hook.sh" in there


def installed(wheel: Path, directory: Path, program: str, *words: str) -> Completed:
    """Runs a program of Python on the packages of the wheel, and this environment's libraries."""
    with zipfile.ZipFile(wheel) as opened:
        opened.extractall(directory / "lib/site")
    argv = [sys.executable, "-P", "-c", program, str(directory / "lib/site"), *words]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(directory)}
    return run(argv, cwd=directory, env=environment, check=False)


def test_its_commands_load_where_no_clone_is(wheel: Path, tmp_path: Path) -> None:
    said = installed(wheel, tmp_path, _LOAD_ALL)
    assert said.status == 0, said.stderr
    assert {"lab.lab", "tests.test", "release.release"} <= set(said.stdout.split())


@pytest.mark.parametrize(
    "words", [("a2av", "build"), ("test", "--list"), ("provision", "wheels", "x.tar")]
)
def test_what_needs_the_clone_says_so(wheel: Path, tmp_path: Path, words: tuple[str, ...]) -> None:
    said = installed(wheel, tmp_path, _RUN, *words)
    assert said.status in (1, 77)
    assert said.stderr.endswith(
        "; run it as ./vas in a clone, or in the unpacked source of a release\n"
    )
    assert "Traceback" not in said.stderr
