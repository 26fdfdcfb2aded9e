"""The script `./vas` builds the jars for commands that need them, of recorded jars alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from vas_tests.bootstrap import PYTHON, REPOSITORY, ScriptClone

pytestmark = pytest.mark.machine


def test_S6_a_changed_jar_stops_the_build(debian: ScriptClone) -> None:
    assert debian.vas("build").returncode == 0
    (debian.clone / "build/plugins-built").unlink()
    done = debian.vas("build", JAR="changed")
    assert done.returncode == 1
    assert "hadoop-common/3/hadoop-common-3.jar: FAILED" in done.stderr
    assert "vas: a jar is not the recorded one" in done.stderr
    assert not (debian.clone / "build/plugins-built").exists()
    assert debian.vas("build").returncode == 0


def test_a_command_that_is_not_there_is_said_before_a_build(debian: ScriptClone) -> None:
    assert debian.vas("doctor").returncode == 0
    program = debian.clone / ".venv/bin/vas"
    program.write_text('#!/bin/sh\n[ "$2" = run ] || { echo no such command >&2; exit 2; }\n')
    done = debian.vas("bench", "rnu", "plan.yaml")
    assert (done.returncode, done.stderr) == (2, "no such command\n")
    assert debian.builds() == 0
    assert debian.vas("bench", "run", "plan.yaml").returncode == 0
    assert debian.builds() == 1


def in_settings(machine: ScriptClone, place: Path) -> dict[str, str]:
    file = machine.clone / ".m2/settings.xml"
    file.parent.mkdir(exist_ok=True)
    of_comment = "<!-- <localRepository>/not/this</localRepository> -->"
    text = str(place).replace(str(machine.clone), "${user.home}")
    file.write_text(
        f"<settings>{of_comment}\n<localRepository>\n {text}</localRepository></settings>"
    )
    return {}


def in_options(machine: ScriptClone, place: Path) -> dict[str, str]:
    in_settings(machine, machine.clone / "another")
    return {"MAVEN_OPTS": f"-Xmx1g -Dmaven.repo.local={place} -ea"}


def in_arguments(machine: ScriptClone, place: Path) -> dict[str, str]:
    return {"MAVEN_ARGS": f"-Dmaven.repo.local={place}"}


@pytest.mark.parametrize("told", [None, in_settings, in_options, in_arguments])
@pytest.mark.parametrize("command", ["build", "test"])
def test_S6_a_changed_jar_that_is_here_already_is_never_run(
    told: Callable[[ScriptClone, Path], dict[str, str]] | None, command: str, debian: ScriptClone
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


def test_S6_a_repository_that_nobody_can_name_is_not_guessed(debian: ScriptClone) -> None:
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


def test_S6_a_jar_that_nobody_recorded_stops_the_build(debian: ScriptClone) -> None:
    done = debian.vas("build", UNRECORDED="planted-1.jar")
    assert done.returncode == 1
    assert "planted-1.jar" in done.stderr
    assert "these jars are not in core/locks/maven.sha256" in done.stderr


def test_S6_a_jar_that_is_left_out_now_goes_with_the_next_build(debian: ScriptClone) -> None:
    lib = debian.clone / "yarn-plugins/hadoop/target/lib"
    lib.mkdir(parents=True)
    (lib / "left-out-1.jar").touch()
    assert debian.vas("build").returncode == 0
    assert not (lib / "left-out-1.jar").exists()


@pytest.mark.unhurried
def test_only_what_starts_on_the_jars_builds_them(debian: ScriptClone) -> None:
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
def test_a_wrong_map_is_refused_before_a_build(option: list[str], debian: ScriptClone) -> None:
    debian.vas("--version")
    vas = debian.clone / ".venv/bin/vas"
    ran = vas.read_text()
    vas.write_text('#!/bin/sh\n[ "$*" = "cluster check -- a map.yaml" ] && exit 2\n')
    assert debian.vas("lab", "up", *option).returncode == 2
    assert debian.builds() == 0
    vas.write_text(ran)
    assert debian.vas("lab", "up", *option).stdout.startswith("ran: lab up --cluster")
    assert debian.builds() == 1


@pytest.mark.parametrize("option", [["--builder", "quick"], ["--tools-tree=x"], ["--json"]])
def test_an_image_without_its_builder_is_refused_before_a_build(
    option: list[str], debian: ScriptClone
) -> None:
    needs_mkosi = option == ["--json"]
    assert debian.vas("image", "build", *option).stdout.startswith("ran: image build")
    assert debian.builds() == (0 if needs_mkosi else 1)
    debian.program("mkosi", "#!/bin/sh\n")
    debian.vas("image", "build", *option)
    assert debian.builds() == 1


def test_a_rebuild_says_why_and_how_long_the_last_one_took(debian: ScriptClone) -> None:
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
def test_a_deleted_source_is_a_change_and_leaves_no_class(name: str, debian: ScriptClone) -> None:
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


def test_jars_that_are_gone_are_built_again(debian: ScriptClone) -> None:
    debian.vas("build")
    shutil.rmtree(debian.clone / "yarn-plugins/dist/target")
    debian.vas("build")
    assert debian.builds() == 2


@pytest.fixture
def lab_on(debian: ScriptClone, tmp_path: Path) -> Iterator[Path]:
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


def test_no_jar_is_replaced_while_a_lab_runs_on_it(debian: ScriptClone, lab_on: Path) -> None:
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


def with_rust(debian: ScriptClone) -> ScriptClone:
    """Puts stand-ins for a Rust compiler on PATH, which a whole release needs."""
    for name in ("cargo", "rustc"):
        debian.program(name, f"#!/bin/sh\necho {name} 1.85.0\n")
    return debian


def test_a_whole_release_is_built_and_a_part_of_one_takes_what_is_there(
    debian: ScriptClone,
) -> None:
    assert debian.vas("release", "--out", "x", "--dry-run").returncode == 0
    assert debian.vas("release", "--out", "x", "--only", "wheel").returncode == 0
    assert debian.builds() == 0
    done = with_rust(debian).vas("release", "--out", "x")
    assert done.stdout == "ran: release --out x, as ./vas\n"
    assert debian.builds() == 1


def test_a_release_that_is_refused_builds_nothing(debian: ScriptClone) -> None:
    refuses = PYTHON.replace('echo "ran', '[ "$1" != release ] || exit 2; echo "ran')
    with_rust(debian).program("python3.11", refuses.replace("{version}", "11"))
    assert debian.vas("release", "--out", "x").returncode == 2
    assert debian.builds() == 0
