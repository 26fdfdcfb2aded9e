"""The script `./vas` makes the Python environment, and runs commands in it under its own name."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from vas_tests.bootstrap import MAVEN, PYTHON, ScriptClone

pytestmark = pytest.mark.machine


def test_R7_ensurepip_is_needed_only_to_make_the_environment(
    machine: ScriptClone,
) -> None:
    without = PYTHON.replace("{version}", "11").replace(
        "#!/bin/sh\n", '#!/bin/sh\ncase "$*" in *ensurepip*) exit 1 ;; esac\n', 1
    )
    usual = (machine.bin / "python3.11").read_text()
    machine.program("python3.11", without)
    first = machine.vas("cluster", "check")
    assert first.returncode == 77
    assert "missing: module:ensurepip (makes the virtual environment)" in first.stderr
    machine.program("python3.11", usual)
    assert machine.vas("cluster", "check").returncode == 0
    machine.program("python3.11", without)
    assert machine.vas("cluster", "check").returncode == 0


def test_D3_a_lock_that_is_a_link_is_refused(debian: ScriptClone) -> None:
    victim = debian.clone / "victim"
    victim.write_text("ann's\n")
    (debian.clone / ".venv.lock").symlink_to(victim)
    done = debian.vas("cluster", "check")
    assert done.returncode == 1
    assert f"{debian.clone}/.venv.lock: is a symbolic link" in done.stderr
    assert victim.read_text() == "ann's\n"


def test_help_and_completion_build_nothing(debian: ScriptClone) -> None:
    debian.lacks("mvn")
    assert debian.vas("doctor", _VAS_COMPLETE="bash_complete").stdout == ""
    assert debian.vas("demo", "--help").returncode == 0
    assert debian.vas("lab", "status").returncode == 77
    assert debian.vas("doctor", _VAS_COMPLETE="bash_complete").stdout != ""
    assert debian.builds() == 0


def test_a_failed_installation_of_the_libraries_is_made_again(debian: ScriptClone) -> None:
    assert debian.vas("demo", PIP_FAILS="1").returncode != 0
    done = debian.vas("demo")
    assert done.returncode == 0
    assert "making the Python environment" in done.stderr


# A program that says what Python and Maven say of Ctrl-C, which is a user's own doing.
_BUSY = """#!/bin/sh
trap 'kill $!; echo Traceback; exit 1' INT
echo busy >>"$RECORD"
sleep 20 & wait
"""


@pytest.mark.parametrize("program", ["venv", "pip", "mvn"])
def test_ctrl_c_in_a_first_run_is_one_word_and_the_next_run_begins_again(
    program: str, debian: ScriptClone
) -> None:
    usual = {"python3.11": PYTHON.replace("{version}", "11"), "mvn": MAVEN}
    step = {"venv": "for last; do :; done", "pip": '[ -z "$PIP_FAILS" ]'}.get(program, "")
    busy = usual["python3.11"].replace(step, _BUSY, 1)
    name, script = ("python3.11", busy) if step else ("mvn", _BUSY)
    debian.program(name, script)
    status, stderr = debian.interrupted("demo", after="busy")
    assert status == 130
    assert stderr.endswith("vas: interrupted\n") and "Traceback" not in stderr
    debian.program(name, usual[name])
    assert debian.vas("demo").stdout == "ran: demo, as ./vas\n"


@pytest.mark.parametrize(
    ("program", "words"),
    [("flock", ("doctor",)), ("apt-get", ("--yes", "route", "calibrate")), ("find", ("demo",))],
)
def test_ctrl_c_at_any_other_time_is_one_word_too(
    program: str, words: tuple[str, ...], debian: ScriptClone
) -> None:
    """While another ./vas builds, packages are installed, or sources are compared."""
    assert debian.vas("demo").returncode == 0
    debian.lacks(program, "iperf3")
    debian.program(program, _BUSY)
    with (debian.clone / "pyproject.toml").open("a") as settings:
        settings.write("# changed\n" if program == "flock" else "")
    status, stderr = debian.interrupted(*words, after="busy")
    assert (status, stderr.splitlines()[-1]) == (130, "vas: interrupted")


def test_what_the_installer_says_is_seen_when_it_fails(debian: ScriptClone) -> None:
    says = PYTHON.replace("[ -z", "echo no such hash; [ -z").replace("{version}", "11")
    debian.program("python3.11", says)
    done = debian.vas("demo", PIP_FAILS="1")
    assert done.returncode == 1
    assert "no such hash\nvas: the Python environment cannot be made; the whole" in done.stderr


@pytest.mark.unhurried
def test_two_first_runs_make_one_environment(debian: ScriptClone) -> None:
    slow = PYTHON.replace('-m venv")', '-m venv") sleep 0.5; echo "venv $*" >>"$RECORD"')
    debian.program("python3.11", slow.replace("{version}", "11"))
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(debian.vas, "--version") for _ in range(3)]
    assert [run.result().stdout for run in runs] == ["ran: --version, as ./vas\n"] * 3
    assert debian.record.read_text().count("venv -m venv") == 1
    assert sum("making the Python environment" in run.result().stderr for run in runs) == 1


def test_a_clone_that_was_moved_makes_its_environment_anew(debian: ScriptClone) -> None:
    debian.vas("--version")
    debian.clone = debian.clone.rename(debian.clone.with_name("moved"))
    (debian.clone / ".venv/bin/vas").write_text("#!/no/such/python\n")
    assert debian.vas("doctor", _VAS_COMPLETE="bash_complete").stdout == ""
    done = debian.vas("doctor")
    assert done.stdout == "ran: doctor, as ./vas\n"
    assert "the clone has moved: making its Python environment again" in done.stderr
    assert debian.vas("doctor").stderr == ""


def test_a_python_that_cannot_be_run_is_one_line(debian: ScriptClone) -> None:
    debian.vas("--version")
    python = debian.clone / ".venv/bin/python"
    python.unlink()
    python.symlink_to("/no/such/python")
    (debian.clone / ".venv/bin/vas").write_text(f"#!{python}\n")
    done = debian.vas("doctor")
    assert done.returncode == 77
    assert done.stderr.startswith(f"vas: {python} is gone, or not this user's to run")
    assert done.stderr.count("\n") == 1
    assert debian.vas("doctor", _VAS_COMPLETE="bash_complete").stderr == ""


@pytest.mark.parametrize("name", ["pyproject.toml", "core/locks/python-dev.txt"])
def test_libraries_that_changed_are_installed(debian: ScriptClone, name: str) -> None:
    debian.vas("--version")
    with (debian.clone / name).open("a") as file:
        file.write("\n")
    assert "pyproject.toml or its lock has changed" in debian.vas("--version").stderr
    assert debian.vas("--version").stderr == ""


def test_the_program_is_named_as_it_is_called(debian: ScriptClone) -> None:
    path = debian.clone / "vas"
    absolute = subprocess.run(
        [path], env={"PATH": str(debian.bin)}, capture_output=True, text=True, check=True
    )
    assert absolute.stdout == f"ran: , as {path}\n"
    (debian.bin / "vas").symlink_to(path)
    on_path = subprocess.run(
        ["bash", "-c", "vas doctor"],
        env={"PATH": str(debian.bin)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert on_path.stdout == "ran: doctor, as vas\n"


def test_an_environment_with_the_former_name_has_one_name_afterwards(debian: ScriptClone) -> None:
    recorded = PYTHON.replace('"-m pip") ', '"-m pip") echo "$*" >>"$RECORD"; ')
    debian.program("python3.11", recorded.replace("{version}", "11"))
    debian.vas("--version")
    assert "uninstall" not in debian.record.read_text()
    former = debian.clone / ".venv/lib/python3.11/site-packages/vas-0.1.0.dist-info"
    former.mkdir(parents=True)
    with (debian.clone / "pyproject.toml").open("a") as settings:
        settings.write("\n")
    assert debian.vas("--version").returncode == 0
    steps = [line.split()[2] for line in debian.record.read_text().splitlines()[-3:]]
    assert steps == ["install", "uninstall", "install"]
