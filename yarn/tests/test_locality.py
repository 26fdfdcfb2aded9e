"""The verdict on each map, and the parts it is joined from."""

from __future__ import annotations

import fcntl
import os
import time
from getpass import getuser
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from web import answer, web_server

from vas_cluster import Cluster, load_cluster
from vas_cluster.hadoop import configuration_xml
from vas_core.cli import run_command
from vas_core.errors import BadInput, VasError
from vas_core.predictable_names import LAB_LOCK
from vas_layout.codec import decode
from vas_layout.locate import OwnedSpan, main_owner
from vas_layout.model import Layout
from vas_layout.owners import Source
from vas_layout.store import LayoutReader
from vas_yarn.blocks import Blocks
from vas_yarn.history import History, MapAttempt, Split, job_id
from vas_yarn.locality import Where, judge
from vas_yarn.placement_log import PlacementDecision, files_of, parse, read
from vas_yarn.spark.locality import ElsewhereExecutor, executor_places

EXAMPLE = Path(__file__).parents[2] / "cluster" / "examples" / "laptop-lab.yaml"
VECTORS = Path(__file__).parents[2] / "lustre-layout" / "vectors"
MIB = 1 << 20
SPLIT = Split("/in/part-0", 0, 96)


@pytest.fixture(scope="module")
def cluster() -> Cluster:
    return load_cluster(EXAMPLE)


def attempt(node: str) -> MapAttempt:
    return MapAttempt("task_1_1_m_000003", "attempt_1_1_m_000003_0", node, "container_1", 0, 1)


def owned(vm: str | None, length: int = 64, reason: str | None = None) -> OwnedSpan:
    ost = int(vm[-1]) - 1 if vm else None
    return OwnedSpan(0, length, ost, vm and vm.replace("vm", "oss"), vm, Source.CLIENT, reason)


def test_local_needs_no_reason_and_counts_only_its_own_bytes(cluster: Cluster) -> None:
    row = judge(attempt("vm1"), SPLIT, [owned("vm1"), owned("vm2", 32)], owned("vm1"), cluster, [])
    assert (row.where, row.why, row.local_bytes) == (Where.LOCAL, "", 64)
    assert (row.ost, row.oss, row.vm) == (0, "oss1", "vm1")


def test_partner_is_told_from_remote(cluster: Cluster) -> None:
    assert (
        judge(attempt("vm2"), SPLIT, [owned("vm1")], owned("vm1"), cluster, []).where
        is Where.PARTNER
    )
    assert (
        judge(attempt("vm3"), SPLIT, [owned("vm1")], owned("vm1"), cluster, []).where
        is Where.REMOTE
    )


def test_the_last_relaxation_of_the_stripes_host_is_the_reason(cluster: Cluster) -> None:
    decisions = [
        PlacementDecision("application_1_1", "relaxed-partner", "vm1", "", "timeout", 10_000),
        PlacementDecision("application_1_1", "relaxed-any", "vm2", "", "dead", 0),
        PlacementDecision("application_1_1", "relaxed-any", "vm1", "", "timeout", 12_500),
    ]
    row = judge(attempt("vm3"), SPLIT, [owned("vm1")], owned("vm1"), cluster, decisions)
    assert row.why == "vm1: timeout; relaxed to any after 12.5 s"


def test_the_grant_of_the_maps_own_container_comes_before_any_relaxation(
    cluster: Cluster,
) -> None:
    decisions = [
        PlacementDecision("a", "grant", "vm4", "vm3", "dead-node", 7_000, "container_1", "remote"),
        PlacementDecision("a", "relaxed-any", "vm1", "", "timeout", 12_500),
    ]
    row = judge(attempt("vm3"), SPLIT, [owned("vm1")], owned("vm1"), cluster, decisions)
    assert row.why == "vm4: dead-node; relaxed to any after 7.0 s"


def test_the_maps_own_host_is_the_reason_if_it_was_open_whoever_opened_the_container(
    cluster: Cluster,
) -> None:
    decisions = [
        PlacementDecision("a", "relaxed-any", "vm1", "", "dead-node", 5_000),
        PlacementDecision("a", "relaxed-any", "vm4", "", "timeout", 25_000),
        PlacementDecision("a", "grant", "vm4", "vm3", "timeout", 26_000, "container_1", "remote"),
    ]
    row = judge(attempt("vm3"), SPLIT, [owned("vm1")], owned("vm1"), cluster, decisions)
    assert row.why == "vm1: dead-node; relaxed to any after 5.0 s"


def test_a_host_open_to_its_partner_only_or_strict_again_is_no_reason_elsewhere(
    cluster: Cluster,
) -> None:
    grant = PlacementDecision(
        "a", "grant", "vm4", "vm3", "timeout", 26_000, "container_1", "remote"
    )
    to_partner = PlacementDecision("a", "relaxed-partner", "vm1", "", "timeout", 20_000)
    opened = PlacementDecision("a", "relaxed-any", "vm1", "", "timeout", 25_000)
    strict = PlacementDecision("a", "strict", "vm1", "", "none", 0)
    for before in ([to_partner], [opened, strict]):
        row = judge(attempt("vm3"), SPLIT, [owned("vm1")], owned("vm1"), cluster, [*before, grant])
        assert row.why == "vm4: timeout; relaxed to any after 26.0 s"


def test_a_container_meant_for_another_map_is_said(cluster: Cluster) -> None:
    grant = PlacementDecision("a", "grant", "vm3", "vm3", "none", 0, "container_1", "local")
    row = judge(attempt("vm3"), SPLIT, [owned("vm1")], owned("vm1"), cluster, [grant])
    assert row.why == "MapReduce gave it a container on vm3 that was granted for another map"


def test_a_container_that_waited_is_the_reason_of_a_later_map_alone(cluster: Cluster) -> None:
    grant = PlacementDecision("a", "grant", "vm3", "vm3", "none", 0, "container_1", "local")
    of_vm1: tuple[Any, ...] = ([owned("vm1")], owned("vm1"), cluster, [grant])
    row = judge(attempt("vm3"), SPLIT, *of_vm1, warm=True)
    assert row.where is Where.REMOTE
    assert row.why == (
        "a container that waited on vm3 took it, as no map that has its data there was left"
    )
    assert judge(attempt("vm1"), SPLIT, *of_vm1, warm=True).why == ""


@pytest.mark.parametrize(
    ("split", "owned_spans", "why"),
    [
        (None, [], "the map's split is not known: its log is not there, or it read no file"),
        (SPLIT, [], "the split's layout could not be read"),
        (SPLIT, [owned(None, reason="no objects allocated")], "no objects allocated"),
        (
            SPLIT,
            [owned("vm1")],
            "the placement log that was read has no decision about this job",
        ),
    ],
)
def test_what_is_not_known_is_said(
    split: Split | None, owned_spans: list[OwnedSpan], why: str, cluster: Cluster
) -> None:
    assert (
        judge(attempt("vm3"), split, owned_spans, next(iter(owned_spans), None), cluster, []).why
        == why
    )


def test_a_log_that_was_not_read_is_an_answer(cluster: Cluster) -> None:
    whose: tuple[Any, ...] = ([owned("vm1")], owned("vm1"), cluster)
    assert judge(attempt("vm3"), SPLIT, *whose, None).why == "no placement log was read"
    assert judge(attempt("vm1"), SPLIT, *whose, None).why == ""
    other = PlacementDecision("a", "strict", "vm2", "", "none", 0)
    why = judge(attempt("vm3"), SPLIT, *whose, [other]).why
    assert why == "the placement log that was read has no decision about this map"


def test_a_jobs_own_files_are_found_in_the_order_they_were_written(tmp_path: Path) -> None:
    app = "application_17_0001"
    (tmp_path / "ann").mkdir()
    for name in (f"{app}.10.log", f"{app}.log", f"{app}.2.log", f"{app}1.log", f"{app}.x.log"):
        (tmp_path / "ann" / name).touch()
    found = [file.name for file in files_of(tmp_path, "ann", app)]
    assert found == [f"{app}.log", f"{app}.2.log", f"{app}.10.log"]
    assert files_of(tmp_path, "bob", app) == files_of(tmp_path / "ann", "..", app) == []


def test_a_block_that_no_vm_owns_most_of_is_no_vms(cluster: Cluster) -> None:
    spread = [owned("vm1", 32), owned("vm2", 32), owned("vm3", 32)]
    row = judge(attempt("vm1"), SPLIT, spread, main_owner(spread), cluster, [])
    assert (row.where, row.vm, row.ost, row.local_bytes) == (Where.UNKNOWN, None, None, 32)
    assert row.why == "no VM owns more than half: `vas layout fix` gives each split one owner"


class Stored(LayoutReader):
    """Every file has one layout."""

    def __init__(self, name: str) -> None:
        self._layout = decode((VECTORS / f"{name}.bin").read_bytes())

    def read(self, path: Path) -> Layout:
        return self._layout


def blocks(cluster: Cluster, directory: Path, size: int, **properties: str) -> Blocks:
    """For a file `f` of `size` bytes, of stripes of 16 MiB on OST 0 and OST 1 in turns."""
    with (directory / "f").open("wb") as file:
        file.truncate(size)
    lustre = cluster.lustre.model_copy(update={"mount": str(directory)})
    here = cluster.model_copy(update={"lustre": lustre})
    conf = {f"vas.lustre.{name.replace('_', '-')}": value for name, value in properties.items()}
    return Blocks(here, conf, Stored("S16M"))


def test_a_split_of_several_blocks_is_asked_for_by_the_one_that_holds_its_start(
    cluster: Cluster, tmp_path: Path
) -> None:
    split = Split("/f", 16 * MIB, 48 * MIB)
    owned_spans, block = blocks(cluster, tmp_path, 64 * MIB).of(split)
    assert {p.vm: p.length for p in owned_spans} == {"vm1": 16 * MIB, "vm2": 32 * MIB}
    row = judge(attempt("vm2"), split, owned_spans, block, cluster, [])
    assert (row.where, row.vm, row.ost, row.local_bytes) == (Where.LOCAL, "vm2", 1, 32 * MIB)
    split = Split("/f", 0, 48 * MIB)
    owned_spans, block = blocks(cluster, tmp_path, 40 * MIB).of(split)
    assert block and (block.vm, block.ost) == ("vm1", 0)


def test_a_split_within_a_block_is_asked_for_by_the_whole_block(
    cluster: Cluster, tmp_path: Path
) -> None:
    many = blocks(cluster, tmp_path, 64 * MIB, block_size="48m", min_block_size="32m")
    owned_spans, block = many.of(Split("/f", 16 * MIB, 8 * MIB))
    assert [p.vm for p in owned_spans] == ["vm2"]
    assert block and block.vm == "vm1"
    _, block = many.of(Split("/f", 48 * MIB, 16 * MIB))
    assert block and block.vm == "vm2"


def test_a_file_that_is_gone_is_said(cluster: Cluster, tmp_path: Path) -> None:
    found = blocks(cluster, tmp_path, 0)
    assert found.of(Split("/f", 0, 0)) == ([], None)
    with pytest.raises(VasError, match="no such file"):
        found.of(Split("/g", 0, 1))


def test_a_split_that_a_log_claims_costs_no_memory_and_leads_nowhere(
    cluster: Cluster, tmp_path: Path
) -> None:
    """A job's own log says what a map read: 16 EiB of it are 10^12 stripes."""
    found = blocks(cluster, tmp_path, 64 * MIB)
    owned_spans, _ = found.of(Split("/f", 0, 1 << 63))
    assert sum(p.length for p in owned_spans) == 64 * MIB
    assert found.of(Split("/f", 1 << 62, 1 << 62)) == ([], None)
    with pytest.raises(VasError, match="leads out of the mount"):
        found.of(Split("/../f", 0, 1))


def test_a_map_that_is_asked_for_again_does_not_hide_the_others_stage(cluster: Cluster) -> None:
    lines = (
        "vas.placement: event=relaxed-any app=a key=20 host=vm1 waited_ms=5000 cause=dead-node",
        "vas.placement: event=strict app=a key=5 host=vm1 waited_ms=0 cause=none",
        "vas.placement: event=grant app=a key=20 host=vm4 node=vm3 locality=remote"
        " waited_ms=26000 cause=timeout container=container_1",
    )
    row = judge(attempt("vm3"), SPLIT, [owned("vm1")], owned("vm1"), cluster, parse(lines))
    assert row.why == "vm1: dead-node; relaxed to any after 5.0 s"


def test_log_lines_of_others_are_passed_over(tmp_path: Path) -> None:
    log = tmp_path / "rm.log"
    log.write_text(
        "2026-11-21 10:00:00,000 INFO resourcemanager.RMAppImpl: event=START app=application_1_1\n"
        "2026-11-21 10:00:01,000 INFO vas.placement: app=application_1_1 event=relaxed-any"
        " host=vm1 cause=timeout waited_ms=12500\n"
    )
    expected = PlacementDecision("application_1_1", "relaxed-any", "vm1", "", "timeout", 12_500)
    assert read([log]) == [expected]
    assert list(parse(["vas.placement"])) == []
    with pytest.raises(BadInput, match=r"no\.log: cannot be read"):
        read([tmp_path / "no.log"])


@pytest.mark.timeout(10)
def test_a_log_line_that_names_the_logger_often_is_read_in_one_pass() -> None:
    """An application's diagnostics stand in the ResourceManager's log: a line is 64 KiB of it."""
    hostile = "vas.placement " * 2_000 + "a=b " * 8_000 + ";"
    began = time.monotonic()
    assert list(parse([hostile, hostile + " app=x", hostile + " waited_ms=" + "9" * 5_000])) != []
    assert time.monotonic() - began < 5


def test_O7_a_log_that_is_none_keeps_nobody_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    assert read([tmp_path / "fifo"]) == []
    with pytest.raises(BadInput, match="/dev/zero: is a device, not a file"):
        read([Path("/dev/zero")])
    line = "INFO vas.placement: app=a event=grant host=vm1 node=vm1 cause=local waited_ms=3"
    (tmp_path / "log").write_text("x" * 3_000_000 + "\n" + line + "\n")
    assert [one.app for one in read([tmp_path / "log"])] == ["a"]


def test_job_ids() -> None:
    assert job_id("application_17_0001") == job_id("job_17_0001") == "job_17_0001"
    with pytest.raises(BadInput, match="not an application id"):
        job_id("application_17")


def test_history_refuses_what_is_no_url_and_names_what_is_silent() -> None:
    with pytest.raises(BadInput, match="is not a URL"):
        History("file:///etc/passwd")
    with pytest.raises(VasError, match="does not answer"):
        History("http://127.0.0.1:9").job("job_1_1")


def test_command_refuses_a_wrong_id(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["job", "locality", "wordcount", "--cluster", str(EXAMPLE)]
    assert run_command(arguments) == 2
    assert "'wordcount' is not an application id" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "status", "said"),
    [
        ("TEZ", 2, "application_17_0001: is an application of TEZ, and the history has"),
        ("SPARK", 2, "application_17_0001: is an application of SPARK, and Spark's event logs in"),
        ("MAPREDUCE", 1, "application_17_0001: neither the JobHistoryServer {url} nor Spark's"),
        (None, 1, "application_17_0001: neither the JobHistoryServer {url} nor Spark's"),
    ],
)
def test_command_tells_an_application_that_never_shows_up(
    kind: str | None, status: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The history knows none of them; the ResourceManager knows what they are."""

    def respond(request: BaseHTTPRequestHandler) -> None:
        is_known = kind is not None and "/cluster/apps/" in request.path
        answer(request, 200 if is_known else 404, {"app": {"applicationType": kind}})

    with web_server(respond) as url, pytest.MonkeyPatch.context() as patched:
        keys = {
            "yarn.resourcemanager.webapp.address": url.removeprefix("http://"),
            "yarn.app.mapreduce.am.staging-dir": f"file://{tmp_path}/staging",
        }
        (tmp_path / "yarn-site.xml").write_text(configuration_xml(keys))
        patched.setenv("HADOOP_CONF_DIR", str(tmp_path))
        words = ["job", "locality", "application_17_0001", "--cluster", str(EXAMPLE)]
        assert run_command([*words, "--history", url]) == status
    told = capsys.readouterr().err
    assert said.format(url=url) in told
    assert told.count("\n") == 1
    if kind != "TEZ":
        events = tmp_path / "staging" / getuser() / ".staging/spark-events"
        assert f"event logs in {events} have" in told
        assert "`vas submit --spark` as this user" in told


def test_command_without_a_map_names_the_lab_only_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VAS_CLUSTER", str(tmp_path / "none.yaml"))
    monkeypatch.setenv("VAS_LABS", str(tmp_path))
    assert run_command(["job", "locality", "application_17_0001"]) == 2
    said = capsys.readouterr().err
    assert "name it by --cluster\n" in said
    (tmp_path / "demo").mkdir()
    lock = tmp_path / "demo" / LAB_LOCK.of()
    lock.touch()
    assert run_command(["job", "locality", "application_17_0001"]) == 2
    assert capsys.readouterr().err == said, "a lab that is not up is named"
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert run_command(["job", "locality", "application_17_0001"]) == 2
    said = capsys.readouterr().err
    assert "`vas lab shell --name demo -- vas job locality application_17_0001`" in said
    assert said.count("\n") == 1


def test_executors_of_spark_by_where_they_started() -> None:
    lines = [
        "vas.placement event=strict app=a key=0 host=vm1 waited_ms=0 cause=none",
        "vas.placement event=grant app=a key=0 host=vm1 node=vm1 locality=local waited_ms=9"
        " cause=none container=c1",
        "vas.placement event=grant app=a key=0 host=vm1 node=vm2 locality=partner waited_ms=21000"
        " cause=timeout container=c2",
    ]
    assert executor_places(list(parse(lines[:1]))) is None
    both = "asked for where stripes are: 1 started there"
    assert str(executor_places(list(parse(lines[:2])))) == f"1 executor {both}"
    found = executor_places(list(parse(lines)))
    assert str(found) == f"2 executors {both} (vm1: timeout)"
    assert found is not None
    assert found.elsewhere == [ElsewhereExecutor("vm1", "vm2", "timeout", 21_000)]
