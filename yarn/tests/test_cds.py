"""The AppCDS archive: when it is made, when it fits, and that tasks start without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from vas_core.cli import run_command
from vas_yarn.cds.archive import (
    EVERY_TASK,
    ArchiveKind,
    ArchiveState,
    ClassArchive,
    Ingredients,
    jvm_flags,
)
from vas_yarn.cds.class_path import ClassPath, java_home
from vas_yarn.cds.training import FIRST_JDK
from vas_yarn.jars import find_hadoop

_MAIN = "import java.util.*; public class Main { public static void main(String[] a) {} }"
_PACKAGED = "package org.vas; public class Task { public static void main(String[] a) {} }"


@pytest.fixture(scope="module")
def jar(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A jar of one class without a package."""
    directory = tmp_path_factory.mktemp("jar")
    source = directory / "Main.java"
    source.write_text(_MAIN)
    subprocess.run([java_home() / "bin/javac", source], check=True)
    with zipfile.ZipFile(directory / "main.jar", "w") as archive:
        archive.write(directory / "Main.class", "Main.class")
    return directory / "main.jar"


@pytest.fixture(scope="module")
def whole(jar: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """An archive of that jar."""
    archive = ClassArchive(tmp_path_factory.mktemp("cds"))
    archive.build(made_of(jar))
    return archive.file.read_bytes()


def made_of(*jars: Path) -> Ingredients:
    """Jars, and few classes: a long list takes long."""
    classes = jars[0].with_name("classes.txt")
    classes.write_text("Main\n")
    return Ingredients(java_home(), jars, classes)


def test_a_release_of_the_same_size_and_time_is_another_one(tmp_path: Path) -> None:
    """On a site a link leads to the release, and all jars have one time."""
    link = tmp_path / "plugins"
    digests = set()
    for name in ("release-1", "release-2"):
        (tmp_path / name).mkdir()
        jar = tmp_path / name / "plugin.jar"
        jar.write_text(name)
        os.utime(jar, (0, 0))
        link.unlink(missing_ok=True)
        link.symlink_to(name)
        digests.add(made_of(link / "plugin.jar").digest)
    assert len(digests) == 2


def start(archive: Path, jar: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """A JVM as a task is started, with the archive."""
    argv = [java_home() / "bin/java", *jvm_flags(archive), *flags, "-cp", jar, "Main"]
    return subprocess.run(argv, check=False, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_made_once_and_again_when_it_no_longer_fits(jar: Path, tmp_path: Path) -> None:
    archive, wanted = ClassArchive(tmp_path / "cds"), made_of(jar)
    assert archive.state(wanted) is ArchiveState.MISSING
    assert archive.build(wanted)
    assert not archive.build(wanted)
    assert archive.file.stat().st_mode & 0o777 == 0o644
    assert sorted(p.name for p in archive.file.parent.iterdir()) == ["hadoop.jsa", "hadoop.json"]
    assert start(archive.file, jar, "-Xshare:on").returncode == 0
    shutil.copy(jar, tmp_path / "other.jar")
    other = made_of(jar, tmp_path / "other.jar")
    assert archive.state(other) is ArchiveState.STALE
    with archive.file.open("r+b") as stream:
        stream.seek(-4096, 2)
        stream.write(b"\xff" * 100)
    assert archive.state(wanted) is ArchiveState.DAMAGED
    assert archive.build(wanted)
    assert archive.state(wanted) is ArchiveState.FITS


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_of_our_jars_every_class_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "Task.java").write_text(_PACKAGED)
    subprocess.run([java_home() / "bin/javac", "-d", tmp_path, tmp_path / "Task.java"], check=True)
    ours = tmp_path / "vas-plugins.jar"
    with zipfile.ZipFile(ours, "w") as archive:
        archive.write(tmp_path / "org/vas/Task.class", "org/vas/Task.class")
    archive = ClassArchive(tmp_path / "cds")
    archive.build(made_of(ours))
    argv = [java_home() / "bin/java", *jvm_flags(archive.file), "-Xlog:class+load", "-cp", ours]
    loaded = subprocess.run([*argv, "org.vas.Task"], check=True, capture_output=True, text=True)
    assert "org.vas.Task source: shared objects file" in loaded.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("damage", ["missing", "empty", "garbage", "cut", "another JDK's"])
def test_a_jvm_goes_on_without_an_archive_that_does_not_fit(
    jar: Path, whole: bytes, tmp_path: Path, damage: str
) -> None:
    archive = tmp_path / "hadoop.jsa"
    if damage != "missing":
        version = whole.index(b"Server VM (")
        damaged = {
            "empty": b"",
            "garbage": b"x" * 100_000,
            "cut": whole[: len(whole) // 2],
            "another JDK's": whole[: version + 11] + b"99" + whole[version + 13 :],
        }[damage]
        archive.write_bytes(damaged)
    assert start(archive, jar, "-Xshare:on").returncode != 0
    started = start(archive, jar)
    assert (started.returncode, started.stdout, started.stderr) == (0, "", "")


def test_a_directory_that_others_may_write_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tmp_path.chmod(0o777)
    (tmp_path / "a.jar").touch()
    argv = ["cds", "build", "--directory", str(tmp_path), "--classpath", str(tmp_path / "a.jar")]
    assert run_command(argv) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"vas: {tmp_path}: others may write it")
    assert error.endswith("chmod it 755\n")


def test_wildcards_are_jars_by_name_and_directories_come_behind(tmp_path: Path) -> None:
    lib, conf = tmp_path / "lib", tmp_path / "conf"
    for directory in (lib, conf):
        directory.mkdir()
    for name in ("b.jar", "a.jar", "c.txt"):
        (lib / name).touch()
    found = ClassPath.of(f"{conf}:{lib}/*:{lib}/a.jar:{tmp_path}/none.jar:")
    assert [jar.name for jar in found.jars] == ["a.jar", "b.jar"]
    assert found.directories == (conf,)


def test_the_argument_file_has_the_jars_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jar").touch()
    class_path = f"{tmp_path}:{tmp_path}/*"
    assert run_command(["cds", "arguments", "--classpath", class_path]) == 0
    *flags, last = capsys.readouterr().out.splitlines()
    assert flags == [
        *EVERY_TASK,
        *("-XX:SharedArchiveFile=/var/lib/vas/cds/hadoop.jsa", "-Xshare:auto"),
        *("-XX:+UnlockDiagnosticVMOptions", "-XX:ArchiveRelocationMode=0"),
    ]
    assert last.startswith(f'-cp "{tmp_path}/a.jar:{tmp_path}:job.jar/job.jar:')


def test_a_client_has_no_class_path_of_a_job(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.jar").touch()
    class_path = ["--classpath", f"{tmp_path}:{tmp_path}/*"]
    assert run_command(["cds", "arguments", "--of", "client", *class_path]) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == f'-cp "{tmp_path}/a.jar:{tmp_path}"'


def test_status_says_what_is_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.jar").touch()
    where = ["--directory", str(tmp_path), "--classpath", str(tmp_path / "a.jar")]
    assert run_command(["cds", "status", *where, "--json"]) == 3
    found = json.loads(capsys.readouterr().out)
    assert (found["state"], found["jars"], found["bytes"]) == ("missing", 1, 0)
    assert run_command(["cds", "status", *where]) == 3
    assert capsys.readouterr().err == "run `vas cds build`\n"


def test_the_environment_may_name_the_directory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a lab."""
    (tmp_path / "a.jar").touch()
    monkeypatch.setenv("VAS_CDS_DIRECTORY", str(tmp_path / "own"))
    assert run_command(["cds", "status", "--classpath", str(tmp_path / "a.jar"), "--json"]) == 3
    assert json.loads(capsys.readouterr().out)["archive"] == str(tmp_path / "own/hadoop.jsa")


@pytest.mark.parametrize("class_path", ["/etc", "/none/*"])
def test_a_class_path_without_jars_is_one_line(
    class_path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["cds", "status", "--classpath", class_path]) == 2
    assert capsys.readouterr().err == (
        f"vas: class path '{class_path}': no jar in it; give --classpath\n"
    )


@pytest.mark.parametrize("version", ["17.0.15+6", "24.0.1", ""])
def test_the_cache_of_a_training_run_needs_its_jdk(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    version: str,
) -> None:
    (tmp_path / "a.jar").touch()
    (tmp_path / "release").write_text(f'JAVA_RUNTIME_VERSION="{version}"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    where = ["--directory", str(tmp_path / "cds"), "--classpath", f"{tmp_path}/*"]
    assert run_command(["cds", "build", "--kind", "aot", *where]) == 2
    assert capsys.readouterr().err == (
        f"vas: {tmp_path}: JDK {version or 'of no known version'} has no cache of this kind;"
        f" set JAVA_HOME to JDK {FIRST_JDK} or later, or use --kind cds\n"
    )


def test_a_training_run_needs_hadoop_s_examples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.jar").touch()
    (tmp_path / "release").write_text('JAVA_RUNTIME_VERSION="25.0.3+9-LTS"\n')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    where = ["--directory", str(tmp_path / "cds"), "--classpath", f"{tmp_path}/*"]
    assert run_command(["cds", "build", "--kind", "aot", *where]) == 2
    assert capsys.readouterr().err.startswith(
        "vas: training run: no hadoop-mapreduce-examples-*.jar"
    )


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_training_run_makes_a_cache_that_jvms_map_and_an_older_jdk_passes_over(
    tmp_path: Path,
) -> None:
    jdks = [
        path
        for path in Path("/usr/lib/jvm").glob(f"*{FIRST_JDK}*")
        if (path / "bin/javac").exists()
    ]
    if not jdks:
        pytest.skip(f"no JDK {FIRST_JDK} in /usr/lib/jvm")
    jars = tuple(sorted(find_hadoop().glob("*.jar")))
    archive, wanted = ClassArchive(tmp_path, ArchiveKind.AOT), Ingredients(jdks[0], jars)
    assert archive.build(wanted)
    assert not archive.build(wanted)
    assert archive.state(wanted) is ArchiveState.FITS
    class_path = ":".join(map(str, jars))
    shown = ("-Xlog:class+load", "-cp", class_path, "org.apache.hadoop.conf.Configuration")
    for home, mapped in ((jdks[0], True), (java_home(), False)):
        argv = [home / "bin/java", *jvm_flags(archive.file), *shown]
        done = subprocess.run(argv, check=True, capture_output=True, text=True)
        found = "org.apache.hadoop.conf.Configuration source: shared objects file" in done.stdout
        assert found is (mapped or home.samefile(jdks[0]))
