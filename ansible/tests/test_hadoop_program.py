"""The program behind a site's `hadoop`, `yarn` and `mapred`, with a Java that prints words."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_core.process import Completed, run

TEMPLATE = Path(__file__).parents[1] / "roles/hadoop/templates/hadoop.sh.j2"
YARN = "org.apache.hadoop.yarn.client.cli"

pytestmark = pytest.mark.machine


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A directory with the three names of the program."""
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
    for name in ("hadoop", "yarn", "mapred"):
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
