"""The script `./vas` on machines that lack things, with both package managers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import pytest

from vas_tests.bootstrap import MAVEN, PYTHON, REPOSITORY, Machine

pytestmark = pytest.mark.machine


@pytest.fixture(params=["apt-get", "dnf"])
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    return Machine(tmp_path, request.param)


@pytest.fixture
def debian(tmp_path: Path) -> Machine:
    return Machine(tmp_path, "apt-get")


def test_a_machine_with_everything_installs_nothing(machine: Machine) -> None:
    done = machine.vas("cluster", "check", "a b")
    assert (done.returncode, done.stdout) == (0, "ran: cluster check a b, as ./vas\n")
    assert "once; about a minute" in done.stderr
    assert machine.vas("--version").stderr == ""
    assert machine.installed() == []


def test_a_python_too_old_is_installed_and_the_command_goes_on(machine: Machine) -> None:
    machine.lacks("python3.11")
    machine.python("python3", 9)
    newer = {"apt-get": "python3", "dnf": "python3.11"}[machine.manager]
    machine.python(newer, 11, package=newer)
    done = machine.vas("--yes", "--version")
    assert done.stdout == "ran: --yes --version, as ./vas\n"
    assert machine.installed()[0] == newer
    assert "missing: python:3.11 (runs VAS)" in done.stderr


@pytest.mark.parametrize("old", [None, 11])
def test_a_jdk_and_maven_are_installed_for_what_needs_them(
    old: int | None, machine: Machine
) -> None:
    names = {
        "apt-get": ("openjdk-17-jdk-headless", "maven"),
        "dnf": ("java-17-openjdk-devel", "maven-openjdk17"),
    }[machine.manager]
    machine.lacks("mvn", "java", "javac")
    if old:
        machine.java(old)
    machine.java(17, package=names[0])
    machine.program("mvn", MAVEN, package=names[1])
    assert machine.vas("cluster").returncode == 0
    assert machine.installed() == []
    assert machine.vas("demo", "--yes").stdout == "ran: demo --yes, as ./vas\n"
    assert machine.installed() == list(names)
    assert machine.builds() == 1


def test_only_what_measures_paths_needs_iperf3(debian: Machine) -> None:
    debian.lacks("iperf3")
    debian.program("iperf3", "#!/bin/sh\n", package="iperf3")
    for words in (("demo",), ("lab", "status"), ("route", "plan")):
        assert debian.vas(*words).returncode == 0
    assert debian.vas("route", "calibrate").returncode == 77
    debian.lacks("mvn", "java", "javac")
    assert debian.vas("--yes", "route", "calibrate", "--lab").returncode == 0
    assert debian.installed() == ["iperf3"]


def test_only_what_measures_interference_needs_fio(debian: Machine) -> None:
    debian.lacks("fio")
    debian.program("fio", "#!/bin/sh\n", package="fio")
    for words in (("demo",), ("bench", "arms"), ("bench", "stats"), ("route", "calibrate")):
        assert debian.vas(*words).returncode == 0
    assert debian.vas("bench", "interference").returncode == 77
    assert debian.vas("--yes", "bench", "interference").returncode == 0
    assert debian.installed() == ["fio"]
    assert debian.builds() == 1


@pytest.mark.parametrize(
    ("programs", "packages", "words"),
    [
        (
            ("krb5kdc", "kadmin.local", "kinit"),
            {
                "apt-get": ["krb5-kdc", "krb5-admin-server", "krb5-user"],
                "dnf": ["krb5-server", "krb5-workstation"],
            },
            ("test", "--all"),
        ),
        (("nft",), {"apt-get": ["nftables"], "dnf": ["nftables"]}, ("test",)),
    ],
)
def test_only_the_tests_that_run_it_need_a_program_of_tests(
    programs: tuple[str, ...],
    packages: dict[str, list[str]],
    words: tuple[str, ...],
    machine: Machine,
) -> None:
    machine.lacks(*programs)
    names = packages[machine.manager]
    for name, program in product(names, programs):
        machine.program(program, "#!/bin/sh\n", package=name)
    others = [("demo",), ("lab", "status"), ("bench", "arms"), ("route", "plan")]
    others += [("test", "--fast"), *([("test",), ("test", "--ci")] if "--all" in words else [])]
    for other in others:
        assert machine.vas(*other).returncode == 0, other
    assert machine.installed() == []
    assert machine.vas("--yes", *words).returncode == 0
    assert machine.installed() == names


def test_of_alternative_programs_one_is_enough(debian: Machine) -> None:
    debian.lacks("qemu-system-x86_64")
    elsewhere = debian.clone / "qemu-kvm"
    file = debian.clone / "core/vas_core/packages.tsv"
    file.write_text(file.read_text().replace("/usr/libexec/qemu-kvm", str(elsewhere)))
    assert debian.vas("cluster").returncode == 0
    assert "missing: qemu-system-x86_64|" in debian.vas("test").stderr
    debian.program("qemu-kvm", "#!/bin/sh\n")
    (debian.bin / "qemu-kvm").rename(elsewhere)
    assert debian.vas("test").returncode == 0
    assert debian.installed() == []


def test_without_yes_and_a_terminal_nothing_is_installed(machine: Machine) -> None:
    machine.lacks("ip")
    done = machine.vas("lab", "shell", "--", "apt", "--yes")
    assert done.returncode == 77
    assert "missing: ip (joins the lab hosts by virtual networks)" in done.stderr
    assert "nothing was installed" in done.stderr
    assert machine.installed() == []


def test_what_is_installed_and_still_not_found_is_said(debian: Machine) -> None:
    debian.java(11)
    done = debian.vas("--yes", "demo")
    assert done.returncode == 77
    assert "installed, but not found: jdk:17" in done.stderr
    assert "set JAVA_HOME" in done.stderr


def test_R7_what_needs_no_git_runs_without(machine: Machine) -> None:
    machine.lacks("git")
    assert machine.vas("cluster", "check").returncode == 0
    assert machine.vas("demo").returncode == 0
    assert machine.installed() == []


def test_R7_ensurepip_is_needed_only_to_make_the_environment(
    machine: Machine,
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


def test_D3_a_lock_that_is_a_link_is_refused(debian: Machine) -> None:
    victim = debian.clone / "victim"
    victim.write_text("ann's\n")
    (debian.clone / ".venv.lock").symlink_to(victim)
    done = debian.vas("cluster", "check")
    assert done.returncode == 1
    assert f"{debian.clone}/.venv.lock: is a symbolic link" in done.stderr
    assert victim.read_text() == "ann's\n"


def test_neither_manager(debian: Machine) -> None:
    debian.lacks("apt-get", "ip")
    done = debian.vas("--yes", "demo")
    assert done.returncode == 77
    assert "neither apt-get nor dnf is here" in done.stderr


def test_help_and_completion_build_nothing(debian: Machine) -> None:
    debian.lacks("mvn")
    assert debian.vas("doctor", _VAS_COMPLETE="bash_complete").stdout == ""
    assert debian.vas("demo", "--help").returncode == 0
    assert debian.vas("lab", "status").returncode == 77
    assert debian.vas("doctor", _VAS_COMPLETE="bash_complete").stdout != ""
    assert debian.builds() == 0


def test_a_failed_installation_of_the_libraries_is_made_again(debian: Machine) -> None:
    assert debian.vas("demo", PIP_FAILS="1").returncode != 0
    done = debian.vas("demo")
    assert done.returncode == 0
    assert "making the Python environment" in done.stderr


def test_two_first_runs_make_one_environment(debian: Machine) -> None:
    slow = PYTHON.replace('-m venv")', '-m venv") sleep 0.5; echo "venv $*" >>"$RECORD"')
    debian.program("python3.11", slow.replace("{version}", "11"))
    with ThreadPoolExecutor() as pool:
        runs = [pool.submit(debian.vas, "--version") for _ in range(3)]
    assert [run.result().stdout for run in runs] == ["ran: --version, as ./vas\n"] * 3
    assert debian.record.read_text().count("venv -m venv") == 1
    assert sum("making the Python environment" in run.result().stderr for run in runs) == 1


def test_a_clone_that_was_moved_makes_its_environment_anew(debian: Machine) -> None:
    debian.vas("--version")
    debian.clone = debian.clone.rename(debian.clone.with_name("moved"))
    (debian.clone / ".venv/bin/vas").write_text("#!/no/such/python\n")
    assert debian.vas("doctor", _VAS_COMPLETE="bash_complete").stdout == ""
    done = debian.vas("doctor")
    assert done.stdout == "ran: doctor, as ./vas\n"
    assert "the clone has moved: making its Python environment again" in done.stderr
    assert debian.vas("doctor").stderr == ""


def test_a_python_that_cannot_be_run_is_one_line(debian: Machine) -> None:
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
def test_libraries_that_changed_are_installed(debian: Machine, name: str) -> None:
    debian.vas("--version")
    with (debian.clone / name).open("a") as file:
        file.write("\n")
    assert "pyproject.toml or its lock has changed" in debian.vas("--version").stderr
    assert debian.vas("--version").stderr == ""


def test_S6_a_changed_jar_stops_the_build(debian: Machine) -> None:
    assert debian.vas("build").returncode == 0
    (debian.clone / "build/plugins-built").unlink()
    done = debian.vas("build", JAR="changed")
    assert done.returncode == 1
    assert "hadoop-common/3/hadoop-common-3.jar: FAILED" in done.stderr
    assert "vas: a jar is not the recorded one" in done.stderr
    assert not (debian.clone / "build/plugins-built").exists()
    assert debian.vas("build").returncode == 0


def in_settings(machine: Machine, place: Path) -> dict[str, str]:
    file = machine.clone / ".m2/settings.xml"
    file.parent.mkdir(exist_ok=True)
    of_comment = "<!-- <localRepository>/not/this</localRepository> -->"
    text = str(place).replace(str(machine.clone), "${user.home}")
    file.write_text(
        f"<settings>{of_comment}\n<localRepository>\n {text}</localRepository></settings>"
    )
    return {}


def in_options(machine: Machine, place: Path) -> dict[str, str]:
    in_settings(machine, machine.clone / "another")
    return {"MAVEN_OPTS": f"-Xmx1g -Dmaven.repo.local={place} -ea"}


def in_arguments(machine: Machine, place: Path) -> dict[str, str]:
    return {"MAVEN_ARGS": f"-Dmaven.repo.local={place}"}


@pytest.mark.parametrize("told", [None, in_settings, in_options, in_arguments])
@pytest.mark.parametrize("command", ["build", "test"])
def test_S6_a_changed_jar_that_is_here_already_is_never_run(
    told: Callable[[Machine, Path], dict[str, str]] | None, command: str, debian: Machine
) -> None:
    place = debian.clone / ("my jars" if told is in_settings else "jars")
    if told is None:
        place = debian.clone / ".m2/repository"
    variables = told(debian, place) if told else {}
    jar = place / "org/apache/hadoop/hadoop-common/3/hadoop-common-3.jar"
    jar.parent.mkdir(parents=True)
    jar.write_text("changed")
    done = debian.vas(command, **variables)
    assert done.returncode == 1
    assert "hadoop-common/3/hadoop-common-3.jar: FAILED" in done.stderr
    assert f"vas: {place}: a jar is not the recorded one, so Maven was not started" in done.stderr
    assert debian.builds() == 0
    jar.write_text("")
    assert debian.vas(command, **variables).returncode == 0
    if command == "build":
        assert f"-Dmaven.repo.local={place}" in debian.record.read_text()


def test_S6_a_repository_that_nobody_can_name_is_not_guessed(debian: Machine) -> None:
    in_settings(debian, Path("/${env.SITE}/jars"))
    done = debian.vas("build")
    assert done.returncode == 1 and debian.builds() == 0
    assert "settings.xml: localRepository /${env.SITE}/jars is not understood" in done.stderr
    assert debian.vas("build", MAVEN_OPTS=f"-Dmaven.repo.local={debian.clone}/r").returncode == 0


def test_S6_newer_mavens_find_the_record_by_their_own_name_for_it() -> None:
    config = (REPOSITORY / "yarn-plugins/.mvn/maven.config").read_text()
    (basedir,) = (li for li in config.splitlines() if ".summaryFile.basedir=" in li)
    place = basedir.partition("=")[2].replace("${session.rootDirectory}", "yarn-plugins")
    found = REPOSITORY / place / "checksums.sha256"
    assert found.read_text() == (REPOSITORY / "core/locks/maven.sha256").read_text()


def test_S6_a_jar_that_nobody_recorded_stops_the_build(debian: Machine) -> None:
    done = debian.vas("build", UNRECORDED="planted-1.jar")
    assert done.returncode == 1
    assert "planted-1.jar" in done.stderr
    assert "these jars are not in core/locks/maven.sha256" in done.stderr


def test_S6_a_jar_that_is_left_out_now_goes_with_the_next_build(debian: Machine) -> None:
    lib = debian.clone / "yarn-plugins/hadoop/target/lib"
    lib.mkdir(parents=True)
    (lib / "left-out-1.jar").touch()
    assert debian.vas("build").returncode == 0
    assert not (lib / "left-out-1.jar").exists()


def test_only_what_starts_on_the_jars_builds_them(debian: Machine) -> None:
    reading = (("bench", "report", "x"), ("bench", "compare", "x", "y"), ("bench", "usl", "x"))
    planning = (("bench", "run", "x", "--dry-run"), ("bench", "tune", "--dry-run", "x"))
    planning += (("image", "build", "--dry-run"),)
    for words in (
        ("lab", "status"),
        ("lab", "down"),
        ("cluster",),
        ("layout",),
        *reading,
        *planning,
    ):
        assert debian.vas(*words).returncode == 0
    assert debian.builds() == 0
    for words in (("lab", "up", "--name", "x"), ("bench", "layout"), ("build",), ("demo",)):
        assert debian.vas(*words).returncode == 0
    assert debian.builds() == 1


@pytest.mark.parametrize("option", [["--cluster", "a map.yaml"], ["--cluster=a map.yaml"]])
def test_a_wrong_map_is_refused_before_a_build(option: list[str], debian: Machine) -> None:
    debian.vas("--version")
    vas = debian.clone / ".venv/bin/vas"
    ran = vas.read_text()
    vas.write_text('#!/bin/sh\n[ "$*" = "cluster check -- a map.yaml" ] && exit 2\n')
    assert debian.vas("lab", "up", *option).returncode == 2
    assert debian.builds() == 0
    vas.write_text(ran)
    assert debian.vas("lab", "up", *option).stdout.startswith("ran: lab up --cluster")
    assert debian.builds() == 1


def test_a_rebuild_says_why_and_how_long_the_last_one_took(debian: Machine) -> None:
    assert "first time: 1 to 3 minutes" in debian.vas("build").stderr
    assert debian.vas("build").stderr == ""
    source = debian.clone / "yarn-plugins/layout/src/A.java"
    source.touch()
    os.utime(source, (2**33, 2**33))
    said = debian.vas("build").stderr
    assert "yarn-plugins/layout/src has changed" in said or "src/A.java has changed" in said
    assert "(the last build took " in said
    assert "first time" not in said


@pytest.mark.parametrize("name", ["src/A.java", "src/main/java/org/A.java"])
def test_a_deleted_source_is_a_change_and_leaves_no_class(name: str, debian: Machine) -> None:
    module = debian.clone / "yarn-plugins/layout"
    source, built = module / name, module / "target/classes/A.class"
    for path in (source, built):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    set_times(module, 2**30)
    debian.vas("build")
    built.parent.mkdir(parents=True, exist_ok=True)
    built.touch()
    set_times(module, 2**30)
    assert debian.vas("build").stderr == ""
    source.unlink()
    os.utime(source.parent, (2**33, 2**33))
    assert f"{source.parent.relative_to(debian.clone)} has changed" in debian.vas("build").stderr
    assert not built.exists()


def set_times(tree: Path, seconds: float) -> None:
    """Makes a tree as old as that: an mtime in Unix seconds for all in it."""
    for path in (tree, *tree.rglob("*")):
        os.utime(path, (seconds, seconds))


def test_jars_that_are_gone_are_built_again(debian: Machine) -> None:
    debian.vas("build")
    shutil.rmtree(debian.clone / "yarn-plugins/dist/target")
    debian.vas("build")
    assert debian.builds() == 2


@pytest.fixture
def lab_on(debian: Machine, tmp_path: Path) -> Iterator[Path]:
    """The state of a lab that runs on the clone's jars, as far as the script looks."""
    state = tmp_path / "elsewhere/build/lab/kept"
    state.mkdir(parents=True)
    jar = debian.clone / "yarn-plugins/dist/target/vas-yarn-plugins-1.jar"
    (state / "spec.json").write_text(f'{{"plugin_jar": "{jar}"}}')
    wait = "print(flush=True); import sys; sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", wait, "vas_lab.inside.supervisor", str(state)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as supervisor:
        assert supervisor.stdout
        supervisor.stdout.readline()
        yield state
        assert supervisor.stdin
        supervisor.stdin.close()


def test_no_jar_is_replaced_while_a_lab_runs_on_it(debian: Machine, lab_on: Path) -> None:
    refused = debian.vas("demo")
    assert refused.returncode == 1
    assert f"the lab in {lab_on} runs on the jars" in refused.stderr
    assert f"`VAS_LABS={lab_on.parent} ./vas lab down --name kept`" in refused.stderr
    beside = debian.vas("demo", VAS_LABS=str(lab_on.parent))
    assert "`./vas lab down --name kept`" in beside.stderr
    assert debian.vas("test").returncode == 1
    assert debian.vas("test", "--fast").returncode == 0
    assert debian.vas("lab", "down", "--name", "kept").returncode == 0
    assert debian.builds() == 0


def test_the_program_is_named_as_it_is_called(debian: Machine) -> None:
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
