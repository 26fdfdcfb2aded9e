"""Runs on HDFS: their data, and where their maps ran."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from made_up_jobs import a_job

from vas_bench.run import hdfs_locality
from vas_bench.run.experiments import experiments
from vas_bench.run.hdfs_locality import HdfsBlock, judge, parse_blocks
from vas_bench.run.lab_site import LabSite
from vas_bench.run.plan import BenchPlan
from vas_cluster import Cluster, parse_cluster
from vas_core.process import Completed
from vas_lab.links.totals import LinkTotals
from vas_lab.options import LabOptions
from vas_lab.sites import lab_site_yaml
from vas_yarn.history import History, MapAttempt, Split
from vas_yarn.jobs.job import JobResult


@pytest.fixture
def cluster() -> Cluster:
    return parse_cluster(lab_site_yaml(3), "lab")


# Of a NameNode of Hadoop 3.5, shortened.
_ANSWER = {
    "BlockLocations": {
        "BlockLocation": [
            {"offset": 0, "length": 100, "hosts": ["vm1"], "names": ["10.77.0.21:9866"]},
            {"offset": 100, "length": 60, "hosts": ["vm2"], "names": ["10.77.0.22:9866"]},
        ]
    }
}


def test_blocks_of_a_file() -> None:
    assert parse_blocks(_ANSWER) == [
        HdfsBlock(0, 100, frozenset({"vm1"})),
        HdfsBlock(100, 60, frozenset({"vm2"})),
    ]


def test_a_map_is_judged_by_the_block_of_its_splits_start_and_its_bytes_by_all(
    cluster: Cluster,
) -> None:
    blocks = parse_blocks(_ANSWER)
    split = Split("/f", 50, 100)

    def row(node: str) -> tuple[object, object]:
        found = judge(node, split, blocks, cluster)
        assert (found["ran_on"], found["length"]) == (node, 100)
        return found["where"], found["local_bytes"]

    assert row("vm1") == ("local", 50)
    assert row("vm2") == ("partner", 50)
    assert row("vm3") == ("remote", 0)


def test_what_is_not_known_of_a_map_is_said(cluster: Cluster) -> None:
    assert judge("vm1", None, [], cluster)["where"] == "unknown"
    assert judge("vm1", Split("/f", 500, 1), parse_blocks(_ANSWER), cluster)["where"] == "unknown"


class FakeLab:
    """A lab that notes what is done in it; every output has the same digest."""

    def __init__(self, options: LabOptions) -> None:
        self.options = options
        self.jobs: list[tuple[list[str], dict[str, str]]] = []
        self.calls: list[tuple[str | None, str]] = []
        temporary = options.state_dir
        self.spec = SimpleNamespace(
            cluster=parse_cluster(lab_site_yaml(options.hosts), "lab"), temporary=temporary
        )

    def metadata_requests(self) -> int:
        return 7 * len(self.jobs)

    def link_totals(self) -> LinkTotals:
        return LinkTotals()

    def enter(self, argv: list[str]) -> list[str]:
        return argv

    def refuse_broken(self) -> None: ...

    def stop(self) -> None: ...

    def ask(self, _: object) -> Any:
        return SimpleNamespace(paths=[])

    def run_job(self, argv: list[str], conf: dict[str, str], **_: object) -> JobResult:
        self.jobs.append((argv, conf))
        counters = {"all": {"BYTES_READ": 9, "HDFS_BYTES_READ": 9}}
        return a_job(counters, counters)

    def call(self, argv: list[str], *, node: str | None = None, **_: object) -> Completed:
        self.calls.append((node, " ".join(argv)))
        out = ""
        if argv[0] == "ls":
            out = "_SUCCESS\npart-m-00000\npart-m-00001\npart-m-00002\n"
        elif "sha256sum" in " ".join(argv):
            out = "4 100 abc -"
        elif "vas_bench.run.hdfs_locality" in argv:
            out = '[{"ran_on": "vm1", "where": "local", "length": 5, "local_bytes": 5}]'
        elif "vas_bench.run.times" in argv:
            out = "no JSON"
        return Completed(tuple(argv), 0, out, "")


@contextmanager
def site(
    monkeypatch: pytest.MonkeyPatch, directory: Path, said: list[str]
) -> Iterator[tuple[LabSite, list[FakeLab], list[Any]]]:
    labs: list[FakeLab] = []

    def start(options: LabOptions) -> FakeLab:
        labs.append(FakeLab(options))
        return labs[-1]

    monkeypatch.setattr("vas_bench.run.lab_site.Lab", SimpleNamespace(start=start))
    monkeypatch.setattr("vas_bench.run.lab_site.read_device", lambda *_: {})
    monkeypatch.setattr("vas_bench.run.lab_site.is_running", lambda _: False)
    curves = SimpleNamespace(stop=dict)
    monkeypatch.setattr("vas_bench.run.lab_site.LinkCurves", lambda *_: curves)
    plan = BenchPlan.model_validate(
        {
            "name": "p",
            "workloads": "wordcount",
            "systems": ["yarn-hdfs", "vas"],
            "parameters": {"hosts": 2},
            "drop_caches": False,
        }
    )
    yield LabSite(plan, directory, said.append), labs, experiments(plan)


def test_hdfs_has_a_copy_of_the_data_that_all_others_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with site(monkeypatch, tmp_path, said) as (here, labs, (hdfs, vas)):
        for it in (hdfs, vas, hdfs):
            here.up(it)
            here.prepare(it)
        (lab,) = labs
        measures = here.run(hdfs)
        verdict = here.validate(hdfs)
        details = here.details(hdfs)
    assert lab.options.hdfs
    # Made once, on Lustre, and run there once by stock for what is right.
    assert [argv[0] for argv, _ in lab.jobs] == ["randomtextwriter", "wordcount", "wordcount"]
    made, copied = "/bench-run/0-wordcount", "hdfs://rm:8020/bench-run/1-wordcount"
    argv, told = lab.jobs[-1]
    assert argv[1:] == [f"{copied}/input", f"{copied}/output"]
    assert told["fs.defaultFS"] == "hdfs://rm:8020"
    puts = [(node, line) for node, line in lab.calls if "-put" in line]
    start = f"hadoop fs -D dfs.blocksize={32 << 20} -put"
    files = [f"/run/lustre{made}/input/part-m-0000{number}" for number in range(3)]
    assert puts == [
        ("vm1", f"{start} {files[0]} {files[2]} {copied}/input"),
        ("vm2", f"{start} {files[1]} {copied}/input"),
    ]
    assert verdict.validation.ok and verdict.validation.checksum == "abc"
    assert any(f"-get {copied}/output" in line for _, line in lab.calls)
    assert any(f"-rm -r -f -skipTrash {copied}/output" in line for _, line in lab.calls)
    # Hadoop counts no bytes by host: none is better than a zero.
    assert "data_local_maps" in measures
    assert not {"local_input_bytes", "local_byte_share"} & set(measures)
    (asked,) = [line for _, line in lab.calls if "hdfs_locality" in line]
    assert asked.endswith("hdfs_locality --name-node http://rm:9870 job_1_1")
    assert details.hosts["vm1"].data_local_maps == 1
    assert details.phases == {} and said[-1].startswith("not known of job_1_1: ")


def test_rows_of_a_job_are_from_its_history_and_the_namenode(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    maps = [MapAttempt(name, name, "vm1", "c", 0, 1) for name in ("a", "b")]
    splits = {maps[0]: Split("/bench-run/a file", 0, 100), maps[1]: None}
    asked: list[str] = []

    def answer(url: str) -> object:
        asked.append(url)
        return _ANSWER

    monkeypatch.setattr(History, "maps", lambda *_: maps)
    monkeypatch.setattr(History, "splits", lambda *_: splits)
    monkeypatch.setattr(hdfs_locality, "request_json", answer)
    rows = hdfs_locality.look(History("http://rm:19888"), "job_1_1", cluster, "http://rm:9870")
    assert [row["where"] for row in rows] == ["local", "unknown"]
    where = "http://rm:9870/webhdfs/v1/bench-run/a%20file?op=GETFILEBLOCKLOCATIONS"
    assert asked == [where]
