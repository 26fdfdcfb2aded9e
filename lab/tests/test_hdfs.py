"""HDFS in a lab: what its daemons and jobs are told, and how it is asked whether it is up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_core.errors import VasError
from vas_core.process import run
from vas_lab.hadoop.configuration import configuration
from vas_lab.hadoop.daemons import hdfs_daemons
from vas_lab.hadoop.hdfs import STATE_PATH, WEB_APPS, hdfs_root, live_data_nodes, names_directory
from vas_lab.inside import readiness
from vas_lab.inside.readiness import Readiness
from vas_lab.inside.setup import write_files
from vas_lab.lab import Lab
from vas_lab.sites import lab_site_yaml, memory_needed
from vas_lab.spec import LabSpec
from vas_yarn.jobs.systems import hdfs_arm
from vas_yarn.jobs.trees import cut_files, in_hdfs, shares


@pytest.fixture
def spec(tmp_path: Path) -> LabSpec:
    (tmp_path / "cluster.yaml").write_text(lab_site_yaml(2))
    return LabSpec(
        name="x",
        state_dir=tmp_path,
        hadoop_lib=tmp_path,
        plugin_jar=tmp_path / "vas.jar",
        java_home=Path("/jdk"),
        user_namespace=True,
        hdfs=True,
    )


def test_there_is_a_namenode_and_a_datanode_in_each_guest_without_the_stand_in(
    spec: LabSpec,
) -> None:
    found = hdfs_daemons(spec)
    assert [(daemon.name, daemon.node) for daemon in found] == [
        ("namenode", "rm"),
        ("datanode-vm1", "vm1"),
        ("datanode-vm2", "vm2"),
    ]
    assert not any(daemon.preload for daemon in found)
    assert found[1].argv[-1] == "org.apache.hadoop.hdfs.server.datanode.DataNode"


@pytest.mark.machine
def test_names_are_made_by_the_first_start_alone(spec: LabSpec, tmp_path: Path) -> None:
    java = tmp_path / "bin/java"
    java.parent.mkdir()
    names = names_directory(spec)
    java.write_text(
        '#!/bin/sh\nwhile [ "$1" != org.apache.hadoop.hdfs.server.namenode.NameNode ]; do shift; '
        f'done\nshift 3\necho "started $*"\ncase "$1" in -format) mkdir -p {names} ;; esac\n'
    )
    java.chmod(0o755)
    (daemon, *_) = hdfs_daemons(spec.model_copy(update={"java_home": tmp_path}))
    first = run(list(daemon.argv)).stdout.splitlines()
    assert first == ["started -format -force -nonInteractive", "started "]
    assert run(list(daemon.argv)).stdout.splitlines() == ["started "]


def test_only_a_lab_with_hdfs_is_configured_for_it(spec: LabSpec) -> None:
    found = configuration(spec)
    hdfs = found["hdfs-site.xml"]
    assert hdfs["dfs.replication"] == "1"
    assert hdfs["dfs.datanode.data.dir"].endswith("/nodes/${env.VAS_NODE}/hdfs-blocks")
    # YARN's own files stay where they are without it.
    assert found["core-site.xml"]["fs.defaultFS"] == "lustre://lab"
    assert configuration(spec.model_copy(update={"hdfs": False}))["hdfs-site.xml"] == {}


def test_the_web_interfaces_have_what_their_jar_lacks(spec: LabSpec) -> None:
    write_files(spec, "")
    for app in WEB_APPS:
        assert "<web-app" in (spec.conf / "webapps" / app / "WEB-INF/web.xml").read_text()


def test_a_job_is_on_hdfs_and_yarn_places_it(spec: LabSpec) -> None:
    arm = hdfs_arm(hdfs_root(spec.cluster), 16 << 20)
    assert arm.properties["fs.defaultFS"] == "hdfs://rm:8020"
    assert arm.properties["dfs.blocksize"] == str(16 << 20)
    assert arm.properties["mapreduce.job.tags"] == "vas-placement-off"


def test_memory_is_needed_for_its_daemons_too() -> None:
    more = [memory_needed(n, hdfs=True) - memory_needed(n) for n in (1, 2, 3)]
    assert more[2] - more[1] == more[1] - more[0] > 0


def test_datanodes_are_live_when_the_namenode_says_so() -> None:
    def beans(state: str) -> dict[str, object]:
        return {"beans": [{"FSState": state, "NumLiveDataNodes": 2}]}

    assert live_data_nodes(beans("Operational")) == 2
    assert live_data_nodes(beans("safeMode")) == 0
    assert live_data_nodes({"beans": []}) == live_data_nodes({}) == 0


def test_a_lab_with_hdfs_is_up_when_all_datanodes_are(
    spec: LabSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    live = {"found": 1}

    def answer(url: str) -> object:
        if url.endswith(STATE_PATH):
            return {"beans": [{"FSState": "Operational", "NumLiveDataNodes": live["found"]}]}
        if "history" in url:
            return {}
        raise VasError("nobody is there")

    monkeypatch.setattr(readiness, "request_json", answer)
    monkeypatch.setattr(
        readiness.ResourceManagerClient, "nodes", lambda _: dict.fromkeys(("vm1", "vm2"), "RUNNING")
    )
    asked = Readiness(spec)
    state = asked.check()
    assert (state.ready, state.text) == (False, "1 of 2 DataNodes are live")
    live["found"] = 2
    assert asked.check().ready
    live["found"] = 0
    assert Readiness(spec.model_copy(update={"hdfs": False})).check().ready


@given(st.lists(st.text(), unique=True), st.integers(1, 5))
def test_every_file_is_written_once_and_nobody_writes_many_more(
    files: list[str], guests: int
) -> None:
    dealt = dict(shares(files, [f"vm{number}" for number in range(guests)]))
    assert sorted(file for share in dealt.values() for file in share) == sorted(files)
    sizes = [len(share) for share in dealt.values()]
    assert not sizes or 0 < max(sizes) <= min(sizes) + 1
    assert len(dealt) == min(guests, len(files))


def test_a_path_is_hdfs_s_by_its_scheme() -> None:
    assert in_hdfs("hdfs://rm:8020/a") and not in_hdfs("/hdfs/a")


def test_files_in_hdfs_are_cut_by_hadoop() -> None:
    called: list[list[str]] = []
    lab = cast(Lab, SimpleNamespace(call=called.append))
    cut_files(lab, "hdfs://rm:8020/io", 8)
    assert called == [["hadoop", "fs", "-truncate", "-w", "8", "hdfs://rm:8020/io/*"]]
