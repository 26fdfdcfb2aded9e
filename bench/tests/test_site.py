"""A plan on a site that is there already: what has to fit, and what is refused."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from made_up_jobs import a_job

from vas_bench.results.measures import measure_of
from vas_bench.run.counters import Counters
from vas_bench.run.experiments import experiments
from vas_bench.run.jobs import Jobs
from vas_bench.run.plan import BenchPlan
from vas_bench.site import place
from vas_bench.site import site as site_module
from vas_bench.site.claim import make
from vas_bench.site.configuration import SiteConfiguration
from vas_bench.site.options import SiteOptions, check_lock_mode
from vas_bench.site.site import ClusterSite
from vas_cluster import parse_cluster
from vas_cluster.hadoop import configuration_xml
from vas_core.cli import run_command
from vas_core.errors import BadInput, NotHere, VasError
from vas_core.root import Root
from vas_lab.sites import lab_site_yaml
from vas_yarn.jobs.job import JobResult
from vas_yarn.resourcemanager import ResourceManagerClient


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with a map of two guests and a Hadoop configuration."""
    monkeypatch.setenv("VAS_LABS", str(tmp_path / "labs"))
    mounted = lab_site_yaml(2).replace("/run/lustre", f"{tmp_path}/lustre")
    (tmp_path / "site.yaml").write_text(mounted)
    (tmp_path / "conf").mkdir()
    core = configuration_xml({"fs.defaultFS": "lustre:///"})
    (tmp_path / "conf/core-site.xml").write_text(core)
    return tmp_path


def opened(
    files: Path, said: list[str] | None = None, drops: Any = "none", **plan: Any
) -> ClusterSite:
    """A plan on the site."""
    usual: dict[str, Any] = {"name": "p", "workloads": "terasort", "systems": "vas"}
    options = SiteOptions(
        cluster_file=files / "site.yaml",
        hadoop_conf=files / "conf",
        directory="/user/ann",
        drops=drops,
    )
    heard = said if said is not None else []
    return ClusterSite(BenchPlan.model_validate(usual | plan), options, heard.append)


def test_all_guests_of_a_site_are_used(files: Path) -> None:
    said: list[str] = []
    site = opened(files, said)
    assert site.plan.parameters.hosts == (2,)
    assert said == ["all 2 guests of the site are used; parameters.hosts is not"]


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({"parameters": {"hosts": [1, 2]}}, "a curve over hosts needs a map and a run for each"),
        ({"parameters": {"flock": "localflock"}}, "the site's lock mode is flock"),
        ({"parameters": {"flock": ["flock", "noflock"]}}, "the site's lock mode is flock"),
        ({"drops": "guests"}, "say by --reach how to get onto its nodes"),
    ],
)
def test_what_the_site_is_not_is_refused(files: Path, plan: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadInput, match=problem):
        opened(files, **plan)


@pytest.mark.parametrize(
    ("plan", "problem"),
    [
        ({"systems": "yarn-hdfs"}, "the site has no HDFS"),
        ({"parameters": {"jvm": "roomy"}}, "these are a lab's profiles"),
        ({}, "lustre: is not there; run this where Lustre is mounted"),
    ],
)
def test_what_cannot_run_there_is_said_before_anything_starts(
    files: Path, plan: dict[str, Any], problem: str
) -> None:
    site = opened(files, **plan)
    with pytest.raises(BadInput, match=problem):
        site.check(experiments(site.plan))


def test_a_directory_is_below_the_mount(files: Path) -> None:
    options = SiteOptions(
        cluster_file=files / "site.yaml", hadoop_conf=files / "conf", directory="/a/../../b"
    )
    plan = BenchPlan.model_validate({"name": "p", "workloads": "terasort", "systems": "vas"})
    with pytest.raises(BadInput, match="leads upwards"):
        ClusterSite(plan, options, print)


def test_a_localflock_site_runs_plans_that_ask_for_nothing_else(files: Path) -> None:
    text = lab_site_yaml(2).replace("lustre:", "lustre:\n  flock: localflock", 1)
    (files / "site.yaml").write_text(text)
    (experiment,) = experiments(opened(files).plan)
    assert experiment.parameters["flock"] == "localflock"
    (experiment,) = experiments(opened(files, parameters={"flock": "localflock"}).plan)
    assert experiment.parameters["flock"] == "localflock"


def test_the_mount_has_the_lock_mode_of_the_map(tmp_path: Path) -> None:
    cluster = parse_cluster(lab_site_yaml(1), "lab")
    mount = cluster.lustre.mount
    (tmp_path / "proc").mkdir()
    mounts = tmp_path / "proc/mounts"
    mounts.write_text(f"10.0.0.1@tcp:/lab {mount} lustre rw,flock,lazystatfs 0 0\n")
    check_lock_mode(Root(tmp_path), cluster)
    mounts.write_text(f"10.0.0.1@tcp:/lab {mount} lustre rw,localflock 0 0\n")
    with pytest.raises(BadInput, match="is mounted with localflock; the map says flock"):
        check_lock_mode(Root(tmp_path), cluster)
    mounts.write_text(f"10.0.0.1@tcp:/lab {mount} lustre rw,lazystatfs 0 0\n")
    with pytest.raises(BadInput, match="is mounted with noflock; the map says flock"):
        check_lock_mode(Root(tmp_path), cluster)


def test_another_configuration_of_the_site_is_another_experiment(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_module, "versions", lambda: {"hadoop": "3.4.2"})

    def identity() -> tuple[str, dict[str, Any]]:
        site = opened(files)
        (experiment,) = experiments(site.plan)
        found = site.identify(experiment)
        return found.hash, dict(found.configuration)

    before, told = identity()
    assert told["site"] == parse_cluster(lab_site_yaml(2), "lab").site
    assert told["page_cache"] == "as the run before left it"
    assert str(files) not in json.dumps(told)
    (files / "conf/mapred-site.xml").write_text(configuration_xml({"mapreduce.map.memory.mb": "9"}))
    after, _ = identity()
    assert before != after
    assert identity()[0] == after


@pytest.mark.parametrize(
    ("states", "problem"),
    [
        ({"vm1": "RUNNING", "vm2.site.example": "RUNNING"}, None),
        ({"vm1": "RUNNING", "vm2": "LOST"}, "YARN has no running node on vm2"),
        ({"vm1": "RUNNING"}, "YARN has no running node on vm2"),
        (dict.fromkeys(("vm1", "vm2", "vm9"), "RUNNING"), "the map has no guest vm9, YARN has"),
    ],
)
def test_a_site_whose_nodes_are_not_the_maps_is_broken(
    files: Path, monkeypatch: pytest.MonkeyPatch, states: dict[str, str], problem: str | None
) -> None:
    monkeypatch.setattr(ResourceManagerClient, "nodes", lambda _: states)
    found = opened(files).place
    if problem is None:
        found.refuse_broken()
        assert found.nodes() == ([], [])
        return
    with pytest.raises(VasError, match=problem):
        found.refuse_broken()


@pytest.mark.machine
def test_a_program_is_run_by_the_sites_own_hadoop(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hadoop = files / "hadoop"
    lib = files / "share/hadoop/mapreduce"
    lib.mkdir(parents=True)
    jars = ["examples-3.4.2", "client-jobclient-3.4.2-tests", "client-core-3.4.2"]
    for name in jars:
        (lib / f"hadoop-mapreduce-{name}.jar").touch()
    hadoop.write_text(
        f'#!/bin/sh\nif [ "$1" = classpath ]; then echo "{files}/conf:{lib}/*"; exit; fi\n'
        f'echo "$@" > {files}/argv; echo "$HADOOP_CLASSPATH" > {files}/path\n'
        f'cp "$HADOOP_CONF_DIR/mapred-site.xml" {files}/told.xml\n'
    )
    hadoop.chmod(0o755)
    monkeypatch.setenv("PATH", f"{files}:/usr/bin:/bin")
    monkeypatch.delenv("HADOOP_CLASSPATH", raising=False)
    found = opened(files).place
    result = found.run_job(["teragen", "10", "/user/ann/rows"], {"mapreduce.job.maps": "7"})
    assert isinstance(result, JobResult)
    assert result.state == "NO JOB"
    assert (files / "argv").read_text().split() == [
        "org.apache.hadoop.examples.ExampleDriver",
        "teragen",
        "10",
        "/user/ann/rows",
    ]
    named = [Path(each).name for each in (files / "path").read_text().strip().split(":")]
    assert named == [
        "hadoop-mapreduce-client-jobclient-3.4.2-tests.jar",
        "hadoop-mapreduce-examples-3.4.2.jar",
    ]
    assert "<name>mapreduce.job.maps</name><value>7</value>" in (files / "told.xml").read_text()
    for jar in lib.glob("*examples*"):
        jar.unlink()
    with pytest.raises(NotHere, match="set HADOOP_HOME to a whole Hadoop"):
        place.program_jars()


class Looks:
    """Nodes that have counted more each time."""

    def __init__(self, counted: dict[str, int]) -> None:
        self._counted, self._times = counted, 0

    def look(self) -> tuple[Counters, dict[str, float]]:
        self._times += 1
        now = {name: value * self._times for name, value in self._counted.items()}
        return Counters(now), {"page_cache_bytes": 5.0} if now else {}


@pytest.mark.parametrize(
    ("counted", "cpu_seconds"),
    [({"cpu_microseconds": 2_500_000, "metadata_requests": 7}, 2.5), ({}, None)],
)
def test_what_nodes_counted_is_the_runs_and_what_they_did_not_is_missing(
    files: Path, monkeypatch: pytest.MonkeyPatch, counted: dict[str, int], cpu_seconds: float | None
) -> None:
    monkeypatch.setattr(site_module, "remove_tree", lambda *_: None)
    job = a_job({"tasks": {"BYTES_READ": 10, "CPU_MILLISECONDS": 1000}})
    monkeypatch.setattr(Jobs, "run", lambda *_: job.model_copy(update={"cpu_seconds": 0}))
    site = opened(files)
    looks: Any = Looks(counted)
    site._nodes = looks
    (experiment,) = experiments(site.plan)
    site.up(experiment)
    found = dict(site.run(experiment))
    assert all(measure_of(name) for name in found)
    assert found.get("cpu_seconds") == cpu_seconds
    assert found.get("metadata_requests") == counted.get("metadata_requests")
    assert ("page_cache_bytes" in found) == bool(counted)
    assert (found["job_seconds"], found["task_cpu_seconds"]) == (9, 1)


def test_what_it_made_is_removed_and_nothing_beside_it(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    removed: list[str] = []

    def remove(_: object, path: str) -> None:
        removed.append(path)
        shutil.rmtree(files / "lustre" / path.lstrip("/"), ignore_errors=True)

    monkeypatch.setattr(site_module, "remove_tree", remove)
    hdfs = configuration_xml({"dfs.namenode.rpc-address": "names:8020"})
    (files / "conf/hdfs-site.xml").write_text(hdfs)
    site = opened(files, systems=["vas", "yarn-hdfs"])
    (experiment, *_) = experiments(site.plan)
    site.up(experiment)
    site.up(experiment)
    assert removed == []
    site.down()
    site.down()
    ours = "/user/ann/vas-bench-p"
    assert removed == [ours, f"hdfs://names:8020{ours}"]


def test_a_site_gets_its_tez_from_the_sessions_own_directory(
    files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hadoop = ["client-core-3.4.2", "client-common-3.4.2", "client-core-3.4.2-tests", "client-app-3"]
    there = [files / f"hadoop-mapreduce-{name}.jar" for name in hadoop]
    jars = (files / "tez-api-0.10.5.jar", files / "tez-dag-0.10.5.jar")
    for jar in (*jars, *there):
        jar.write_text(jar.name)
    (files / "lustre").mkdir()
    monkeypatch.setattr("vas_bench.run.jobs.fetch_tez", lambda _: jars)
    monkeypatch.setattr(site_module, "class_path", lambda: there)
    monkeypatch.setattr(
        ResourceManagerClient, "nodes", lambda _: dict.fromkeys(("vm1", "vm2"), "RUNNING")
    )
    site = opened(files, systems=["vas", "tez"])
    both = experiments(site.plan)
    site.check(both)
    (experiment,) = (each for each in both if each.system == "tez")
    site.up(experiment)
    staged = sorted((files / "lustre/user/ann/vas-bench-p/tez/lib").iterdir())
    wanted = sorted((*jars, *there[:2]))
    assert [each.read_text() for each in staged] == [each.name for each in wanted]
    arm = site.arm(experiment)
    assert arm.jars == jars
    assert arm.properties["mapreduce.framework.name"] == "yarn-tez"
    assert arm.properties["tez.lib.uris"] == "/user/ann/vas-bench-p/tez/lib"
    assert arm.properties["tez.simple.history.logging.dir"] == "/user/ann/vas-bench-p/tez/history"


def test_nothing_of_a_tez_that_the_site_has_is_used(files: Path) -> None:
    own = files / "conf/tez-site.xml"
    own.write_text(configuration_xml({"tez.lib.uris": "/apps/tez", "tez.queue.name": "theirs"}))
    conf = SiteConfiguration.read(files / "conf")
    with conf.changed({"tez.lib.uris": "/ours"}, files) as copy:
        assert (copy / "tez-site.xml").read_text() == (
            "<configuration><property><name>tez.lib.uris</name><value>/ours</value></property>"
            "</configuration>"
        )
    assert "theirs" in own.read_text()


@pytest.mark.machine
@pytest.mark.parametrize(
    ("mark", "problem"),
    [
        (None, "is there, and no session made it"),
        ({"user": "bob"}, "a session of bob on "),
        ({"machine": "elsewhere"}, " on elsewhere made it"),
        ({"process": 1}, "process 1 is at work in it"),
        ({"process": 2**22 + 1}, ""),
    ],
)
def test_only_what_an_ended_session_of_ours_left_is_removed(
    files: Path, mark: dict[str, Any] | None, problem: str
) -> None:
    site = opened(files)
    there = files / "lustre/user/ann/vas-bench-p"
    make(there)
    (there / "data").write_text("dear")
    file = there / ".vas-bench"
    if mark is None:
        file.unlink()
    else:
        file.write_text(json.dumps(json.loads(file.read_text()) | mark))
    if problem:
        with pytest.raises(BadInput, match=problem):
            site.up(experiments(site.plan)[0])
    else:
        site.up(experiments(site.plan)[0])
    assert (there / "data").exists() == bool(problem)


def test_options_of_a_site_without_one_are_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "p.yaml"
    plan.write_text("{name: p, workloads: terasort, systems: vas}")
    assert run_command(["bench", "run", str(plan), "--reach", "ssh {node}"]) == 2
    assert "name its map: --cluster FILE" in capsys.readouterr().err


def test_dry_run_on_a_site_asks_nobody(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = files / "p.yaml"
    plan.write_text("{name: p, workloads: terasort, systems: vas, rounds: 1, warm_up: 0}")
    named = ["--cluster", str(files / "site.yaml"), "--hadoop-conf", str(files / "conf")]
    assert run_command(["bench", "run", str(plan), *named, "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert "2 hosts" in out
    assert "1 run, about" in err


_TUNE = "{name: t, hosts: 1, sweep: {sort_buffer: [64M, 512M]}}"


def test_a_search_on_a_site_has_its_guests_and_its_heaps(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = files / "t.yaml"
    plan.write_text(_TUNE)
    opts = {f"mapreduce.{kind}.java.opts": "-Xmx1500m" for kind in ("map", "reduce")}
    memory = {f"mapreduce.{kind}.memory.mb": "2048" for kind in ("map", "reduce")}
    (files / "conf/mapred-site.xml").write_text(configuration_xml(opts | memory))
    named = ["--cluster", str(files / "site.yaml"), "--hadoop-conf", str(files / "conf")]
    assert run_command(["bench", "tune", str(plan), "--dry-run", *named]) == 0
    out, err = capsys.readouterr()
    assert "sort buffer 512 MiB" in out
    assert "not tried" not in err
    # The same in a lab, whose tasks have no room for it.
    assert run_command(["bench", "tune", str(plan), "--dry-run"]) == 0
    assert "not tried: sort buffer 512 MiB" in capsys.readouterr().err


def test_a_labs_profiles_are_not_searched_on_a_site(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = files / "t.yaml"
    plan.write_text("{name: t, sweep: {jvm: [lab, c2]}}")
    named = ["--cluster", str(files / "site.yaml"), "--hadoop-conf", str(files / "conf")]
    assert run_command(["bench", "tune", str(plan), "--dry-run", *named]) == 2
    assert "jvm: these are a lab's profiles" in capsys.readouterr().err
