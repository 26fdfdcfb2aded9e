"""Hadoop's configuration, command lines, jobs: what is decided without running anything."""

from __future__ import annotations

from pathlib import Path

import pytest

from vas_cluster.hadoop import by_file
from vas_core.errors import BadInput
from vas_core.process import run
from vas_lab.enter import into_lab, into_node, with_environment
from vas_lab.hadoop.configuration import child_arguments, configuration, hadoop_program
from vas_lab.hadoop.daemons import yarn_daemons
from vas_lab.inside.setup import Inside
from vas_lab.sites import lab_site_yaml
from vas_lab.spec import LabSpec
from vas_lab.workflows import workflow
from vas_yarn.jobs.job import JobResult, add_counters, program


@pytest.fixture
def spec(tmp_path: Path) -> LabSpec:
    (tmp_path / "cluster.yaml").write_text(lab_site_yaml(2))
    (tmp_path / "lib").mkdir()
    for name in ("b.jar", "a.jar"):
        (tmp_path / "lib" / name).touch()
    return LabSpec(
        name="x",
        state_dir=tmp_path,
        hadoop_lib=tmp_path / "lib",
        plugin_jar=tmp_path / "vas.jar",
        java_home=Path("/jdk"),
        user_namespace=True,
    )


def test_every_property_is_in_the_file_that_is_read_for_it() -> None:
    files = by_file(
        {
            "fs.x": "1",
            "yarn.x": "2",
            "yarn.app.mapreduce.x": "3",
            "yarn.scheduler.capacity.x": "4",
            "dfs.x": "5",
        }
    )
    assert files == {
        "core-site.xml": {"fs.x": "1"},
        "hdfs-site.xml": {"dfs.x": "5"},
        "yarn-site.xml": {"yarn.x": "2"},
        "mapred-site.xml": {"yarn.app.mapreduce.x": "3"},
        "capacity-scheduler.xml": {"yarn.scheduler.capacity.x": "4"},
    }


def test_the_labs_own_properties_have_the_last_word(spec: LabSpec) -> None:
    changed = spec.model_copy(update={"properties": {"mapreduce.map.memory.mb": "700"}})
    assert configuration(spec)["mapred-site.xml"]["mapreduce.map.memory.mb"] == "352"
    assert configuration(changed)["mapred-site.xml"]["mapreduce.map.memory.mb"] == "700"


def test_the_wait_for_a_node_is_that_of_a_map_on_few_cores(spec: LabSpec) -> None:
    assert configuration(spec)["core-site.xml"]["vas.placement.node-wait"] == "60s"


def test_a_plain_lab_names_no_class_of_ours(spec: LabSpec) -> None:
    def values(of: LabSpec) -> list[str]:
        return [value for file in configuration(of).values() for value in file.values()]

    plain = spec.model_copy(update={"plugin_jar": None})
    assert any(value.startswith("org.vas.") for value in values(spec))
    assert not any("org.vas." in value or "vas.jar" in value for value in values(plain))
    assert configuration(plain)["core-site.xml"]["fs.defaultFS"] == "file:///"


def test_a_plain_lab_leaves_the_class_archive_of_others_alone(spec: LabSpec) -> None:
    plain = spec.model_copy(update={"plugin_jar": None})
    assert plain.archive.file != spec.archive.file
    moved = spec.model_copy(update={"name": "second", "state_dir": spec.state_dir / "second"})
    assert moved.archive.file == spec.archive.file


def test_labs_of_two_jdks_have_an_archive_each(spec: LabSpec, tmp_path: Path) -> None:
    jdks = [tmp_path / "17/jdk", tmp_path / "21/jdk"]
    archives = [spec.model_copy(update={"java_home": jdk}).archive.file.parent for jdk in jdks]
    assert all(archive.name.startswith("plugins-jdk-") for archive in archives)
    assert archives[0] != archives[1]


def test_a_busy_guest_fits_into_its_memory(spec: LabSpec) -> None:
    files = configuration(spec)
    memory = int(files["yarn-site.xml"]["yarn.nodemanager.resource.memory-mb"])
    tasks = files["mapred-site.xml"]
    assert memory == 1088
    master = int(tasks["yarn.app.mapreduce.am.resource.mb"])
    assert master + int(tasks["mapreduce.map.memory.mb"]) <= memory


def test_the_class_path_is_in_a_fixed_order_with_the_configuration_behind(spec: LabSpec) -> None:
    names = [Path(entry).name for entry in spec.jars.split(":")]
    assert names == ["a.jar", "b.jar", "vas.jar"]
    assert f'-cp "{spec.jars}:{spec.conf}:job.jar/job.jar:' in child_arguments(spec)


@pytest.mark.parametrize(
    ("words", "last"),
    [
        ("jar my.jar Main 'a b'", ["org.apache.hadoop.util.RunJar", "my.jar", "Main", "a b"]),
        ("fs -ls /", ["org.apache.hadoop.fs.FsShell", "-ls", "/"]),
        (
            "application -list",
            ["org.apache.hadoop.yarn.client.cli.ApplicationCLI", "application", "-list"],
        ),
        ("queue -showacls", ["org.apache.hadoop.mapred.JobQueueClient", "-showacls"]),
        ("distcp /a /b", ["org.apache.hadoop.tools.DistCp", "/a", "/b"]),
        ("version", ["org.apache.hadoop.util.VersionInfo"]),
        ("job -list", ["org.apache.hadoop.mapred.JobClient", "-list"]),
        ("logs -help", ["org.apache.hadoop.yarn.client.cli.LogsCLI", "-help"]),
        ("node -list", ["org.apache.hadoop.yarn.client.cli.NodeCLI", "-list"]),
        ("streaming -info", ["org.apache.hadoop.streaming.HadoopStreaming", "-info"]),
        ("org.example.Main x", ["org.example.Main", "x"]),
    ],
)
@pytest.mark.machine
def test_the_labs_hadoop_starts_what_hadoop_does(
    spec: LabSpec, tmp_path: Path, words: str, last: list[str]
) -> None:
    (tmp_path / "bin").mkdir()
    for name, text in (("java", '#!/bin/sh\nprintf "%s\\n" "$@"\n'), ("hadoop", "")):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    here = spec.model_copy(update={"java_home": tmp_path})
    (tmp_path / "bin/hadoop").write_text(hadoop_program(here))
    command = f"HADOOP_CONF_DIR=/c {tmp_path}/bin/hadoop"
    started = run(["sh", "-c", f"{command} {words}"]).stdout.splitlines()
    assert started[-len(last) - 2 :] == ["-cp", f"{spec.jars}:/c", *last]
    assert f"-XX:SharedArchiveFile={here.archive.file}" in started
    class_path = run(["sh", "-c", f"{command} classpath"]).stdout
    assert class_path == f"/c:{spec.jars}\n"
    more = run(["sh", "-c", f"HADOOP_CLASSPATH=/a.jar {command} {words}"]).stdout.splitlines()
    assert f"{spec.jars}:/c:/a.jar" in more


@pytest.mark.machine
@pytest.mark.parametrize("words", ["archive a b", "", "namenode"])
def test_a_word_that_it_does_not_know_is_said_in_one_line(
    spec: LabSpec, tmp_path: Path, words: str
) -> None:
    """Java would look for a class of that name, and print its usage for none."""
    (tmp_path / "hadoop").write_text(hadoop_program(spec))
    done = run(["sh", tmp_path / "hadoop", *words.split()], check=False)
    assert (done.status, done.stdout) == (2, "")
    first = words.split()[0] if words else "no command given"
    assert done.stderr.startswith(f"hadoop: {first}: a lab knows application, classpath, ")
    assert done.stderr.count("\n") == 1


@pytest.mark.machine
@pytest.mark.parametrize("word", ["help", "-h", "--help"])
def test_the_words_are_its_help(spec: LabSpec, tmp_path: Path, word: str) -> None:
    (tmp_path / "hadoop").write_text(hadoop_program(spec))
    done = run(["sh", tmp_path / "hadoop", word])
    assert done.stdout.startswith("hadoop: a lab knows application, classpath, ")
    assert (done.stdout.count("\n"), done.stderr) == (1, "")


@pytest.mark.parametrize("plain", [False, True])
def test_spark_is_given_the_plugins_and_jna_on_its_class_path(spec: LabSpec, plain: bool) -> None:
    """And none of Hadoop's other jars, which Spark brings in its own versions."""
    (spec.hadoop_lib / "jna-5.jar").touch()
    here = spec.model_copy(update={"plugin_jar": None}) if plain else spec
    given = Inside(here).environment(preload=False).get("SPARK_DIST_CLASSPATH")
    assert given == (None if plain else f"{spec.plugin_jar}:{spec.hadoop_lib}/jna-5.jar")


def test_there_is_a_nodemanager_in_each_guest(spec: LabSpec) -> None:
    nodes = {daemon.name: daemon.node for daemon in yarn_daemons(spec)}
    assert nodes == {
        "resourcemanager": "rm",
        "nodemanager-vm1": "vm1",
        "nodemanager-vm2": "vm2",
        "jobhistory": "rm",
    }


def test_variables_of_the_lab_are_set_behind_its_border() -> None:
    inner = with_environment({"LD_PRELOAD": "/run/x.so"}, Path("/d"), ["true"])
    argv = [*into_lab(7, True), *into_node(9), *inner]
    assert argv[:4] == ["nsenter", "--target=7", "--user", "--preserve-credentials"]
    assert argv[-5:] == ["env", "-C", "/d", "LD_PRELOAD=/run/x.so", "true"]
    assert "--user" not in into_lab(7, False)
    assert into_node(None) == []


def test_programs_are_examples_dfsio_or_jars(spec: LabSpec, tmp_path: Path) -> None:
    jar = tmp_path / "my.jar"
    jar.touch()
    assert program(("pi", "1", "2"), spec.logs)[1:] == ("pi", "1", "2")
    assert program(("dfsio", "-clean"), spec.logs)[1] == "-clean"
    assert program((str(jar), "Main"), spec.logs)[1:] == (str(jar), "Main")
    for wrong in ((), ("terrasort",), (str(tmp_path / "none.jar"),)):
        with pytest.raises(BadInput):
            program(wrong, spec.logs)


@pytest.mark.parametrize("name", ["terasort", "wordcount", "secondarysort", "dfsio"])
def test_workflows_stay_in_their_directory(spec: LabSpec, name: str) -> None:
    made_up = workflow(name, 1 << 20)
    assert made_up is not None
    for step in made_up.steps:
        program(step, spec.logs)
        assert all(word.startswith(made_up.directory) for word in step if word.startswith("/"))
    assert made_up.steps[-1][0] in (name, "teravalidate")
    assert workflow("pi", 1) is None


def test_maps_without_a_counter_ran_elsewhere() -> None:
    group = "org.apache.hadoop.mapreduce.JobCounter"
    sums = add_counters(
        [{group: {"TOTAL_LAUNCHED_MAPS": 3}}, {group: {"TOTAL_LAUNCHED_MAPS": 2}, "g": {"x": 1}}]
    )
    job = JobResult(
        application_id="application_1_1",
        job_id="job_1_1",
        state="SUCCEEDED",
        seconds=1,
        client_seconds=1,
        wall_seconds=2,
        cpu_seconds=3,
        counters={**sums, group: {**sums[group], "DATA_LOCAL_MAPS": 4}},
        map_counters={},
    )
    assert (job.total_maps, job.data_local_maps, job.rack_local_maps, job.other_maps) == (
        5,
        4,
        0,
        1,
    )
    assert (job.counter("x"), job.counter("absent")) == (1, 0)
