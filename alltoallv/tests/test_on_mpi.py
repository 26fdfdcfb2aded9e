"""The library on real MPIs, against what they give. Skipped where none is installed."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
from pathlib import Path

import pytest

from vas_a2av.building import MPICH, OPEN_MPI, SOURCES, MpiKind, build_for, is_installed
from vas_a2av.launching import launch
from vas_a2av.model import Network
from vas_a2av.network_file import figures_of, parse_network, write_network
from vas_a2av.tune_command import measure
from vas_a2av.verify_command import verify_on
from vas_a2av.wheels import NAMES, mpi_of_wheel
from vas_core.cli import run_command
from vas_core.process import Completed, run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

_SMALL = {"VAS_A2AV_MIN_RANKS": "2", "VAS_A2AV": "sloav2"}
_REPORT = {"VAS_A2AV_REPORT": "1"}
_PROGRAMS = ("faces", "uses", "passed")


def test_random_cases_give_what_one_mpi_gives() -> None:
    """A minute suffices for this check, so it runs with few ranks on one MPI."""
    kind = next((kind for kind in (MPICH, OPEN_MPI) if is_installed(kind)), None)
    if kind is None:
        pytest.skip(f"no MPI is installed: apt-get install {MPICH.package}")
    said = verify_on(kind, ranks=6, cases=120, seed=1)
    assert said.startswith("120 cases, ")
    assert said.endswith(" 0 different")


@pytest.mark.long
def test_random_cases_give_what_each_mpi_gives(any_mpi: MpiKind) -> None:
    assert verify_on(any_mpi, ranks=33, cases=60, seed=2).endswith(" 0 different")


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_mpis_of_pypi_pass_the_checks_of_programs(name: str) -> None:
    if platform.machine() != "x86_64":
        pytest.skip("PyPI's MPIs are recorded for x86-64 alone")
    kind = mpi_of_wheel(name)
    directory = build_for(kind, *_PROGRAMS, "persistent")
    for program in (*_PROGRAMS, "persistent"):
        done = launch(kind, 4, [directory / program, "1"], environment=_SMALL)
        assert f"{program}: every check holds" in done.stdout


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_threads_of_mpis_of_pypi_share_memory_where_these_can(name: str) -> None:
    """Open MPI 5.0.11 spoils its memory when two threads make windows at the same time."""
    if platform.machine() != "x86_64":
        pytest.skip("PyPI's MPIs are recorded for x86-64 alone")
    kind = mpi_of_wheel(name)
    words = {"VAS_A2AV": "sloav2x", "VAS_A2AV_NODE_RANKS": "2", "VAS_A2AV_REPORT": "1"}
    done = launch(kind, 5, [build_for(kind, "faces") / "faces"], environment=_SMALL | words)
    assert "faces: every check holds, with threads" in done.stdout
    assert ("3 nodes, with shared memory" in done.stderr) == (not kind.is_open_mpi)


def test_where_tune_cannot_write_is_told_before_it_measures(
    mpi: MpiKind,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    tune, file = ["a2av", "tune", "--mpi", mpi.name], tmp_path / "file"
    file.touch()
    for path in (tmp_path / "none" / "figures", file / "figures"):
        assert run_command([*tune, "--output", str(path)]) == 2
        fix = "name a file in a directory that exists and that you may write to"
        said = capsys.readouterr().err
        assert said.startswith(f"vas: {path}: cannot be written: ")
        assert said.strip().endswith(fix)
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    assert run_command(tune) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"vas: {file}/vas: cannot be made: Not a directory; set XDG_CACHE_HOME")
    assert list(tmp_path.iterdir()) == [file]


def test_what_a_call_costs_that_is_passed_on_is_told(mpi: MpiKind) -> None:
    """The goal is below 100 ns a call; docs/alltoallv.md has the figure: time decides no test."""
    found = json.loads(launch(mpi, 1, [build_for(mpi, "overhead") / "overhead"]).stdout)
    assert found["library_ns"] > 0 < found["mpi_ns"]


@pytest.mark.parametrize("algorithm", ["sloavx", "sloav2x"])
def test_leaders_of_nodes_share_memory_with_their_ranks(algorithm: str, mpi: MpiKind) -> None:
    """The ranks of this machine run as if on two nodes, of three and two ranks."""
    oracle = build_for(mpi, "oracle") / "oracle"
    words = {"VAS_A2AV": algorithm, "VAS_A2AV_NODE_RANKS": "3", "VAS_A2AV_REPORT": "1"}
    done = launch(mpi, 5, [oracle, "60", "4", algorithm], environment=_SMALL | words)
    assert done.stdout.strip().endswith(" 0 different")
    assert "5 ranks: 2 nodes, with shared memory" in done.stderr


def test_sloav_as_printed_spoils_the_callers_send_buffer(mpi: MpiKind) -> None:
    """Relayed blocks in the send buffer overwrite what its owner still has to send."""
    directory = build_for(mpi, "oracle-as-printed", "oracle")
    words = ["60", "8", "sloav"]
    printed = launch(mpi, 5, [directory / "oracle-as-printed", *words], check=False)
    assert printed.status != 0
    assert "the send buffer was written" in printed.stderr
    assert launch(mpi, 5, [directory / "oracle", *words]).stdout.strip().endswith(" 0 different")


@pytest.mark.parametrize("program", _PROGRAMS)
@pytest.mark.parametrize("algorithm", ["sloav2", "sloav2x"])
def test_communicators_threads_plans_errors_and_other_calls(
    algorithm: str, program: str, mpi: MpiKind
) -> None:
    words = {"VAS_A2AV": algorithm, "VAS_A2AV_NODE_RANKS": "2"}
    done = launch(mpi, 5, [build_for(mpi, program) / program], environment=_SMALL | words)
    assert f"{program}: every check holds" in done.stdout


def test_trials_give_the_same_answers(mpi: MpiKind, tmp_path: Path) -> None:
    """Each communicator and plan has a trial, as messages are said to cost so much."""
    program = build_for(mpi, "faces") / "faces"
    figures = tmp_path / "figures"
    figures.write_text(figures_of(Network(overhead_seconds=1e-3)))
    words = {"VAS_A2AV": "auto", "VAS_A2AV_NODE_RANKS": "2", "VAS_A2AV_NETWORK": str(figures)}
    said = launch(mpi, 5, [program], environment=_SMALL | words).stdout
    assert "faces: every check holds" in said


@pytest.mark.parametrize("algorithm", ["sloav2", "sloav2x"])
def test_persistent_requests_of_two_libraries_are_plans(algorithm: str, mpi: MpiKind) -> None:
    program = build_for(mpi, "persistent") / "persistent"
    words = _SMALL | {"VAS_A2AV": algorithm, "VAS_A2AV_NODE_RANKS": "2", "VAS_A2AV_REPORT": "1"}
    done = launch(mpi, 4, [program, "1"], environment=words)
    if "this MPI has no MPI_Alltoallv_init" in done.stdout:
        pytest.skip(f"{mpi.name} has no MPI_Alltoallv_init")
    assert "persistent: every check holds" in done.stdout
    # Seven plans, and a communicator that is used between start and end.
    assert done.stderr.count(f"25 calls by {algorithm}") == 7 + 1


def test_persistent_requests_without_threads_are_mpis_own(mpi: MpiKind) -> None:
    program = build_for(mpi, "persistent") / "persistent"
    _assert_checked(mpi, launch(mpi, 4, [program, "0", "0"], environment=_SMALL | _REPORT))


def test_persistent_requests_that_mpi_serves_better_are_its_own(
    mpi: MpiKind, tmp_path: Path
) -> None:
    """On a machine whose messages cost nothing but bytes there is nothing to gain."""
    figures = tmp_path / "figures"
    free_messages = Network(overhead_seconds=0, latency_seconds=1e-6, bytes_per_second=1e12)
    figures.write_text(figures_of(free_messages))
    environment = _SMALL | _REPORT | {"VAS_A2AV": "auto", "VAS_A2AV_NETWORK": str(figures)}
    program = build_for(mpi, "persistent") / "persistent"
    _assert_checked(mpi, launch(mpi, 4, [program, "0"], environment=environment))


def _assert_checked(mpi: MpiKind, done: Completed) -> None:
    if "has no MPI_Alltoallv_init" in done.stdout:
        pytest.skip(f"{mpi.name} has no MPI_Alltoallv_init")
    assert "persistent: every check holds" in done.stdout
    # Three requests of each of two libraries, started 25 times.
    assert done.stderr.count("75 calls passed to MPI: persistent requests, predicted") == 2


def _preloaded_fortran(form: str, mpi: MpiKind) -> Completed:
    compiler = f"mpifort.{mpi.name}"
    if not (shutil.which(compiler) and shutil.which("gfortran")):
        pytest.skip("no Fortran compiler is installed: apt-get install gfortran")
    directory = build_for(mpi)
    makefile = ["make", "-s", "-f", SOURCES / "Makefile", f"MPIFORT={compiler}"]
    run([*makefile, f"OUT={directory}", directory / f"fortran-{form}"])
    preload = str(directory / "libvas-a2av-pmpi.so")
    environment = _SMALL | {"VAS_A2AV_REPORT": "1", "LD_PRELOAD": preload}
    done = launch(mpi, 4, [directory / f"fortran-{form}"], environment=environment)
    assert "fortran: as expected" in done.stdout
    return done


@pytest.mark.parametrize("form", ["mpif", "mpi", "f08"])
def test_programs_of_fortran_are_served_by_the_preload(form: str, mpi: MpiKind) -> None:
    assert "2 calls by sloav2" in _preloaded_fortran(form, mpi).stderr


def test_large_counts_of_fortran_are_served_by_the_preload() -> None:
    """Open MPI 4.1 has no such functions. A plan that is started twice has a line of its own."""
    if not is_installed(MPICH):
        pytest.skip(f"MPICH is not installed: apt-get install {MPICH.package}")
    said = _preloaded_fortran("large", MPICH).stderr
    assert re.findall(r"4 ranks: (\d) calls by sloav2", said) == ["2", "3"]


def test_an_installed_library_serves_a_program_that_calls_it(mpi: MpiKind, tmp_path: Path) -> None:
    built, installed = build_for(mpi), tmp_path / "installed"
    words = [f"MPICC={mpi.compiler}", f"OUT={built}", f"PREFIX={installed}", "install"]
    run(["make", "-s", "-f", SOURCES / "Makefile", *words])
    source, program = SOURCES / "tests" / "installed.c", tmp_path / "program"
    described = (installed / "lib/pkgconfig/vas-a2av.pc").read_text()
    flags = re.findall(r"^(?:Cflags|Libs): (.+)$", described, re.M)
    words = " ".join(flags).replace("${", f"{installed}/").replace("libdir}", "lib").split()
    words = [word.replace("includedir}", "include") for word in words]
    run([mpi.compiler, source, *words, f"-Wl,-rpath,{installed}/lib", "-o", program])
    environment = _SMALL | {"VAS_A2AV_REPORT": "1"}
    said = launch(mpi, 3, [program], environment=environment).stderr
    assert said.count("vas-a2av: 3 ranks: 1 calls by sloav2") == 1


def test_ranks_with_different_settings_agree_to_pass(mpi: MpiKind) -> None:
    """Ranks that did not agree would wait for messages that others never send."""
    oracle = build_for(mpi, "oracle") / "oracle"
    differing = [":", "-n", "2", "env", "VAS_A2AV=linear", oracle, "20", "1"]
    environment = _SMALL | {"VAS_A2AV_REPORT": "1"}
    done = launch(mpi, 2, [oracle, "20", "1", *differing], environment=environment)
    assert done.stdout.strip().endswith(" 0 different")
    assert "passed to MPI: its ranks have different settings" in done.stderr


def test_a_file_of_figures_that_is_wrong_is_named(mpi: MpiKind, tmp_path: Path) -> None:
    oracle, figures = build_for(mpi, "oracle") / "oracle", tmp_path / "figures"
    figures.write_text("# by hand\noverhead_ns = fast\n")
    environment = _SMALL | {"VAS_A2AV": "auto", "VAS_A2AV_NETWORK": str(figures)}
    done = launch(mpi, 2, [oracle, "20", "1"], environment=environment)
    assert f"{figures}: line 2 is not a figure: run vas a2av tune again" in done.stderr
    assert done.stdout.strip().endswith(" 0 different")


def test_figures_that_are_no_file_end_nothing(mpi: MpiKind, tmp_path: Path) -> None:
    oracle, fifo, long = build_for(mpi, "oracle") / "oracle", tmp_path / "fifo", tmp_path / "long"
    os.mkfifo(fifo)
    long.write_text("# by hand\n" * 10_000)
    for figures in ("/dev/zero", fifo, long):
        environment = _SMALL | {"VAS_A2AV": "auto", "VAS_A2AV_NETWORK": str(figures)}
        done = launch(mpi, 2, [oracle, "20", "1"], environment=environment)
        assert f"VAS_A2AV_NETWORK={figures} cannot be read: run vas a2av tune" in done.stderr
        assert done.stdout.strip().endswith(" 0 different")


def test_figures_have_points_in_every_locale(mpi: MpiKind, tmp_path: Path) -> None:
    """A program that prints numbers as Germans do reads 9000.5 as 9000, and a rest."""
    words = ["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"]
    if not shutil.which("localedef") or run(words, check=False).status:
        pytest.skip("no German locale can be made: apt-get install locales")
    built, program, figures = build_for(mpi), tmp_path / "program", tmp_path / "figures"
    words = [f"-I{SOURCES / 'include'}", f"-L{built}", "-lvas-a2av", f"-Wl,-rpath,{built}"]
    run([mpi.compiler, SOURCES / "tests" / "installed.c", *words, "-o", program])
    launcher = "srun -N 2 " * 100
    write_network(figures, figures_of(Network(overhead_seconds=9.0005e-6)), launcher)
    german = {"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8"}
    environment = {"VAS_A2AV_MIN_RANKS": "2", "VAS_A2AV_NETWORK": str(figures)} | german
    assert "figure" not in launch(mpi, 2, [program], environment=environment).stderr


def test_tune_measures_what_the_library_reads(mpi: MpiKind) -> None:
    network = parse_network(measure(mpi, ""), where="tune")
    assert 0 < network.overhead_seconds < 0.1
    assert network.copy_bytes_per_second > 1e6


def test_a_misspelled_setting_is_named_and_switches_off(mpi: MpiKind) -> None:
    oracle = build_for(mpi, "oracle") / "oracle"
    environment = _SMALL | {"VAS_A2AV_RADX": "4", "VAS_A2AV_REPORT": "1"}
    said = launch(mpi, 2, [oracle, "20", "1"], environment=environment).stderr
    assert "vas-a2av: VAS_A2AV_RADX: no setting has this name; MPI's own is used" in said
    assert "calls passed to MPI: VAS_A2AV=off" in said


def test_a_name_that_is_no_algorithm_switches_off(mpi: MpiKind) -> None:
    oracle = build_for(mpi, "oracle") / "oracle"
    environment = _SMALL | {"VAS_A2AV": "quick", "VAS_A2AV_REPORT": "1"}
    said = launch(mpi, 2, [oracle, "20", "1"], environment=environment).stderr
    assert "VAS_A2AV=quick: must be auto, off, linear, pairwise, sloav" in said
    assert "calls passed to MPI: VAS_A2AV=off" in said
