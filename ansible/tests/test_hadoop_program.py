"""The program behind a site's `hadoop`, `yarn` and `mapred`, with a Java that prints words."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from vas_core.process import Completed, run

TEMPLATE = Path(__file__).parents[1] / "roles/hadoop/templates/hadoop.sh.j2"
YARN = "org.apache.hadoop.yarn.client.cli"

pytestmark = pytest.mark.machine


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory with the four names of the program."""
    names = {"directory": tmp_path, "configuration": "/etc/vas/hadoop", "archive_of_classes": "/c"}
    text = TEMPLATE.read_text()
    for name, value in names.items():
        text = text.replace(f"{{{{ __vas_hadoop_{name} }}}}", str(value))
    assert "{{" not in text
    (tmp_path / "hadoop.sh").write_text(text)
    java = tmp_path / "java/bin/java"
    java.parent.mkdir(parents=True)
    java.write_text('#!/bin/sh\nwhile [ "$1" != -cp ]; do shift; done; shift 2; echo "$@"\n')
    for file in (tmp_path / "hadoop.sh", java):
        file.chmod(0o755)
    for name in ("hadoop", "hdfs", "yarn", "mapred"):
        (tmp_path / name).symlink_to("hadoop.sh")
    return tmp_path


def called(programs: Path, words: str) -> Completed:
    program, *rest = words.split()
    return run([programs / program, *rest], check=False)


@pytest.mark.parametrize(
    ("words", "java"),
    [
        ("hadoop jar a.jar x", "org.apache.hadoop.util.RunJar a.jar x"),
        ("yarn jar a.jar x", "org.apache.hadoop.util.RunJar a.jar x"),
        ("hadoop fs -ls /", "org.apache.hadoop.fs.FsShell -ls /"),
        ("hdfs dfs -ls /", "org.apache.hadoop.fs.FsShell -ls /"),
        ("hadoop version", "org.apache.hadoop.util.VersionInfo"),
        ("hadoop distcp a b", "org.apache.hadoop.tools.DistCp a b"),
        ("mapred distcp a b", "org.apache.hadoop.tools.DistCp a b"),
        ("yarn version", "org.apache.hadoop.util.VersionInfo"),
        ("hadoop credential list", "org.apache.hadoop.security.alias.CredentialShell list"),
        ("mapred job -list", "org.apache.hadoop.mapred.JobClient -list"),
        ("mapred streaming -input a", "org.apache.hadoop.streaming.HadoopStreaming -input a"),
        ("yarn application -list", f"{YARN}.ApplicationCLI application -list"),
        ("yarn app -list", f"{YARN}.ApplicationCLI app -list"),
        ("yarn top", f"{YARN}.TopCLI"),
        ("yarn logs -applicationId x", f"{YARN}.LogsCLI -applicationId x"),
        ("hadoop org.example.Main a", "org.example.Main a"),
        ("hadoop -Dkey=value org.example.Main", "-Dkey=value org.example.Main"),
    ],
)
def test_a_word_is_the_class_that_hadoop_s_own_program_starts(
    programs: Path, words: str, java: str
) -> None:
    done = called(programs, words)
    assert (done.status, done.stdout.strip()) == (0, java)


@pytest.mark.skipif(shutil.which("tclsh") is None, reason="not installed: tclsh")
def test_the_modulefile_gives_spark_its_jars(tmp_path: Path) -> None:
    """Tcl, the language of modulefiles, reads it; its commands print what they would set."""
    text = (TEMPLATE.parent / "modulefile.j2").read_text()
    for name, value in (("hadoop_directory", tmp_path), ("hadoop_configuration", "/etc/vas/h")):
        text = text.replace(f"{{{{ __vas_{name} }}}}", str(value))
    text = text.replace("{{ vas_cluster.site }}", "a site")
    assert "{{" not in text
    for jar in (
        "plugins/vas-1.jar",
        "spark/vas-spark-1.jar",
        "hadoop/jna-5.jar",
        "hadoop/guava-33.jar",
    ):
        (tmp_path / jar).parent.mkdir(exist_ok=True)
        (tmp_path / jar).touch()
    commands = ("setenv", "prepend-path", "append-path", "module-whatis")
    made = "\n".join(f'proc {name} {{args}} {{puts "{name} $args"}}' for name in commands)
    (tmp_path / "read.tcl").write_text(f"{made}\n{text}")
    said = run(["tclsh", tmp_path / "read.tcl"]).stdout.splitlines()
    assert [line for line in said if line.startswith("append-path")] == [
        f"append-path SPARK_DIST_CLASSPATH {tmp_path}/{jar}"
        for jar in ("hadoop/jna-5.jar", "plugins/vas-1.jar", "spark/vas-spark-1.jar")
    ]
    assert "setenv HADOOP_CONF_DIR /etc/vas/h" in said


@pytest.mark.parametrize(
    "words", ["hadoop archive a b", "yarn streaming", "mapred", "hadoop namenode"]
)
def test_a_word_that_it_does_not_know_is_said_in_one_line(programs: Path, words: str) -> None:
    """And not by Java, which would look for a class of that name."""
    done = called(programs, words)
    assert (done.status, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "not a command of this Hadoop" in done.stderr
    assert done.stderr.startswith(words.split()[0])


@pytest.mark.parametrize("words", ["hadoop help", "yarn --help", "mapred -h"])
def test_the_words_are_its_help(programs: Path, words: str) -> None:
    done = called(programs, words)
    assert (done.status, done.stderr, done.stdout.count("\n")) == (0, "", 1)
    assert done.stdout.startswith(f"{words.split()[0]}: this Hadoop knows ")


def test_every_word_that_it_says_to_know_starts_something(programs: Path) -> None:
    """Behind a semicolon the words of one program alone stand behind its name."""
    common, *own = called(programs, "hadoop help").stdout.partition(" knows ")[2].split("; ")
    asked = [(name, word) for name in ("hadoop", "yarn", "mapred") for word in listed(common)]
    for part in own:
        name, words = part.split(" ", 1)
        asked += [(name, word) for word in listed(words)]
    assert ("mapred", "streaming") in asked and ("hadoop", "distcp") in asked
    for name, word in asked:
        assert called(programs, f"{name} {word}").status == 0, (name, word)


def listed(text: str) -> list[str]:
    return text.split(", or the name")[0].replace(",", "").split()
