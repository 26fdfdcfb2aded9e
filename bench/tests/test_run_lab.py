"""What a lab's runs are measured by, from text and numbers that were made up."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from made_up_jobs import a_job, times

from vas_bench.results.record import CurvePoints
from vas_bench.results.store import read_results
from vas_bench.run.experiments import Experiment, experiments
from vas_bench.run.lab_site import LabSite
from vas_bench.run.plan import BenchPlan, WorkloadName
from vas_bench.run.workloads import WORKLOADS
from vas_cluster import parse_cluster
from vas_core.cli import run_command
from vas_core.errors import BadInput, VasError
from vas_core.process import Completed
from vas_lab.control import ControlAnswer, ControlRequest
from vas_lab.disk import LAB_BYTES
from vas_lab.links.totals import LinkTotals, LinkWait, WireBytes
from vas_lab.options import LabOptions
from vas_lab.sites import lab_site_yaml
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.systems import Arm


def test_there_is_a_way_to_run_and_check_every_workload() -> None:
    assert set(WORKLOADS) == set(get_args(WorkloadName))
    assert all(workload.check for workload in WORKLOADS.values())
    assert all(w.has_input for w in WORKLOADS.values() if w.has_splits)


@pytest.mark.machine
def test_a_lab_refuses_lock_modes_and_sizes_that_do_not_fit(tmp_path: Path) -> None:
    def check(**parameters: str) -> None:
        plan = BenchPlan.model_validate(
            {"name": "p", "workloads": "sort", "systems": "vas", "parameters": parameters}
        )
        LabSite(plan, tmp_path, print).check(experiments(plan))

    check()
    with pytest.raises(BadInput, match="no lock modes"):
        check(flock="localflock")
    with pytest.raises(BadInput, match="are free"):
        check(size="900T")


@pytest.mark.machine
def test_the_room_that_a_workload_takes_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = LAB_BYTES + (5 << 30)
    monkeypatch.setattr("vas_bench.run.lab_site.free_bytes", lambda _: free)

    def check(workload: str) -> None:
        parameters = {"size": "1G"}
        plan = {"name": "p", "workloads": workload, "systems": "vas", "parameters": parameters}
        checked = BenchPlan.model_validate(plan)
        LabSite(checked, tmp_path, print).check(experiments(checked))

    check("wordcount")
    with pytest.raises(BadInput, match="are free"):
        check("sequencecount")


TEZ_HISTORY = (Path(__file__).parent / "tez/wordcount-history.txt").read_text()


SUMS = "f:rate\t1000\nl:size\t8\nl:tasks\t1\nl:time\t1\n"


class FakeCurves:
    """Stands in for `LinkCurves`: what grew is known before."""

    def __init__(self, *_: object) -> None: ...

    def stop(self) -> dict[str, CurvePoints]:
        return {"link_bytes/other hosts": [(0.0, 0.0), (2.0, 14.0)]}


class FakeLab:
    """A lab whose jobs end at once. `digests` are those of its jobs' outputs, in their order."""

    def __init__(self, options: LabOptions, digests: list[str]) -> None:
        self.options, self._digests = options, digests
        self.jobs: list[tuple[str, dict[str, str]]] = []
        self.is_up, self.is_broken, self.dropped = True, False, 0
        cluster = parse_cluster(lab_site_yaml(options.hosts), "lab")
        self.spec = SimpleNamespace(cluster=cluster)
        # Nothing of a lab descends from a process that was never there.
        self.running = SimpleNamespace(supervisor=-1)

    def ask(self, _: ControlRequest) -> ControlAnswer:
        return ControlAnswer()

    def metadata_requests(self) -> int:
        return 7 * len(self.jobs)

    def link_totals(self, *, drop_caches: bool = False) -> LinkTotals:
        self.dropped += drop_caches
        done = len(self.jobs) << 20
        wires = (WireBytes("vm1", "oss1", done, 0), WireBytes("vm1", "oss2", done, 2 * done))
        return LinkTotals(wires, (LinkWait("read map output", 3 * len(self.jobs), 0.5),))

    def enter(self, argv: list[str]) -> list[str]:
        return argv

    def refuse_broken(self) -> None:
        if self.is_broken:
            raise VasError("a NodeManager is gone")

    def run_job(self, argv: list[str], conf: dict[str, str], **_: object) -> JobResult:
        self.jobs.append((argv[0], conf))
        if conf.get("mapreduce.framework.name") == "yarn-tez":
            return a_job({})
        counters = {"LUSTRE_BYTES_READ": 1 << 40, "CHECKSUM": 5, "BYTES_READ": 9}
        return a_job({"all": counters}, {"all": counters})

    def call(self, argv: list[str], **_: object) -> Completed:
        out = ""
        if "sha256sum" in " ".join(argv):
            out = f"4 100 {self._digests.pop(0)} -"
        elif "-m" in argv and "vas_bench.run.times" in argv:
            out = times([(2000, 3000)], [], 9000).model_dump_json()
        elif "locality" in argv:
            raise VasError("no logs")
        elif argv[0] == "cat":
            out = SUMS if argv[1].endswith("part-00000") else TEZ_HISTORY
        return Completed(tuple(argv), 0, out, "")

    def stop(self) -> None:
        self.is_up = False


class Labs:
    """What stands in for `Lab.start`; keeps all that were started."""

    def __init__(self, *digests: str) -> None:
        self.digests = list(digests)
        self.started: list[FakeLab] = []

    def start(self, options: LabOptions) -> FakeLab:
        self.started.append(FakeLab(options, self.digests))
        return self.started[-1]


@pytest.fixture
def labs(monkeypatch: pytest.MonkeyPatch) -> Labs:
    found = Labs("abc", "abc", "other")
    monkeypatch.setattr("vas_bench.run.lab_site.Lab", found)
    monkeypatch.setattr("vas_bench.run.lab_site.read_device", lambda *_: {})
    monkeypatch.setattr("vas_bench.run.lab_site.LinkCurves", FakeCurves)
    return found


def site_of(directory: Path, said: list[str], **changed: Any) -> tuple[LabSite, list[Experiment]]:
    usual: dict[str, Any] = {"name": "p", "workloads": "wordcount", "systems": ["vas"]}
    plan = BenchPlan.model_validate(usual | changed | {"drop_caches": False})
    return LabSite(plan, directory, said.append), experiments(plan)


def test_an_output_is_held_against_stocks_of_the_same_input(tmp_path: Path, labs: Labs) -> None:
    said: list[str] = []
    site, (it,) = site_of(tmp_path, said, properties={"a": "b"})
    verdicts, found = [], None
    for _ in range(2):
        site.up(it)
        site.prepare(it)
        site.drop_caches()
        measures = site.run(it)
        verdicts.append(site.validate(it))
        found = site.details(it)
    (lab,) = labs.started
    assert [name for name, _ in lab.jobs] == ["randomtextwriter", *["wordcount"] * 3]
    stock, ours = lab.jobs[1][1], lab.jobs[2][1]
    assert "a" not in stock and ours["a"] == "b"
    assert "mapreduce.job.map.output.collector.class" in ours.keys() - stock.keys()
    assert [verdict.validation.ok for verdict in verdicts] == [True, False]
    assert verdicts[1].wrong == "it is other, stock's abc"
    assert measures["throughput_bytes_per_second"] == it.size_bytes / 9
    assert measures["metadata_requests"] == 7
    assert measures["link_bytes/own host"] == 1 << 20
    assert measures["link_bytes/other hosts"] == 3 << 20
    assert measures["link_requests"] == 3
    assert measures["link_wait_seconds/read map output"] == 0
    assert measures["link_bytes_per_second/peak"] == 7
    assert found is not None and found.phases == {"start": 1, "map": 1}
    assert found.curves == FakeCurves().stop()
    assert found.hosts == {} and said[-1] == "not known of job_1_1: no logs"


@pytest.mark.parametrize(("links", "dropped"), [("honest", 1), ("free", 0)])
def test_the_clients_of_honest_links_forget_what_the_run_before_read(
    tmp_path: Path, labs: Labs, monkeypatch: pytest.MonkeyPatch, links: str, dropped: int
) -> None:
    monkeypatch.setattr("vas_bench.run.lab_site.may_drop_page_cache", lambda _: False)
    asked = {"name": "p", "workloads": "wordcount", "systems": ["vas"]}
    plan = BenchPlan.model_validate(asked | {"parameters": {"links": links}})
    site, (it,) = LabSite(plan, tmp_path, print), experiments(plan)
    told = site.identify(it).configuration
    assert ("client_caches" in told) == bool(dropped)
    site.up(it)
    site.drop_caches()
    assert labs.started[0].dropped == dropped


def test_a_job_on_tez_is_measured_and_split_by_its_own_history(
    tmp_path: Path, labs: Labs, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_tez = Arm("tez", "Tez", "", {"mapreduce.framework.name": "yarn-tez"})
    monkeypatch.setattr("vas_bench.run.jobs.fetch_tez", lambda _: (tmp_path / "tez.jar",))
    monkeypatch.setattr("vas_bench.run.lab_site._tez_arm", lambda *_: on_tez)
    monkeypatch.setattr("vas_bench.run.lab_site._check_room", lambda *_: None)
    said: list[str] = []
    site, (it,) = site_of(tmp_path, said, systems=["tez"])
    site.check([it])
    site.up(it)
    site.prepare(it)
    measures = site.run(it)
    # Its check runs other jobs, which are not the last one that was measured.
    assert site.validate(it).validation.ok
    details = site.details(it)
    assert measures["containers_started"] == 5
    assert measures["job_seconds"] == pytest.approx(30.27)
    assert list(details.phases) == ["start", "map", "shuffle", "merge", "reduce"]
    assert details.hosts == {}
    assert not any("not known" in text for text in said)


def test_other_hosts_are_another_lab_and_another_jvm_too(tmp_path: Path, labs: Labs) -> None:
    parameters = {"hosts": [1, 2], "jvm": ["lab", "roomy"]}
    site, found = site_of(tmp_path, [], workloads="teragen", parameters=parameters)
    for it in (found[0], found[0], *found[1:]):
        site.up(it)
        site.prepare(it)
    site.down()
    assert all(lab.options.job_limit_seconds == site.plan.limit_seconds for lab in labs.started)
    assert [(lab.options.hosts, bool(lab.options.properties)) for lab in labs.started] == [
        (1, False),
        (1, True),
        (2, False),
        (2, True),
    ]
    assert not any(lab.is_up for lab in labs.started)


def test_a_lab_of_node_local_systems_has_the_daemon_and_is_watched(
    tmp_path: Path, labs: Labs, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon = {"vas.shuffled.program": "/somewhere"}
    monkeypatch.setattr("vas_bench.run.lab_site.shuffled_properties", lambda: daemon)
    measured = []
    for system in ("vas", "jbs"):
        site, (it,) = site_of(tmp_path, [], workloads="teragen", systems=[system])
        site.up(it)
        site.prepare(it)
        measured.append(site.run(it))
    plain, with_daemon = (lab.options.properties for lab in labs.started)
    assert "vas.shuffled.program" not in plain
    assert with_daemon == daemon
    assert measured[1].keys() - measured[0].keys() == {
        "peak_memory_bytes/tasks and daemons",
        "open_connections/stock",
        "open_connections/daemons",
        "shuffle_threads",
    }


def test_what_reads_no_splits_has_no_locality(tmp_path: Path, labs: Labs) -> None:
    site, (it,) = site_of(tmp_path, [], workloads="testdfsio-read")
    site.up(it)
    site.prepare(it)
    measures = site.run(it)
    assert not {"local_map_share", "data_local_maps"} & set(measures)
    assert site.details(it).hosts == {}
    assert [name for name, _ in labs.started[0].jobs] == ["dfsio", "dfsio"]


def test_a_broken_lab_fails_the_run(tmp_path: Path, labs: Labs) -> None:
    site, (it,) = site_of(tmp_path, [])
    site.up(it)
    site.prepare(it)
    labs.started[0].is_broken = True
    with pytest.raises(VasError, match="NodeManager"):
        site.run(it)
    site.down()
    site.up(it)
    assert len(labs.started) == 2


@pytest.fixture
def command(tmp_path: Path, labs: Labs, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`vas bench run` of a plan of four runs, in labs that are none."""
    jar = tmp_path / "plugins.jar"
    jar.write_bytes(b"made up")
    for name in ("find_plugins", "workloads_jar", "find_hadoop", "find_java"):
        monkeypatch.setattr(f"vas_bench.run.lab_site.{name}", lambda: jar)
    monkeypatch.setenv("VAS_LABS", str(tmp_path / "labs"))
    labs.digests[:] = ["abc"] * 100
    plan = tmp_path / "p.yaml"
    plan.write_text(
        "{name: p, workloads: wordcount, systems: [yarn-lustre, vas], rounds: 1, drop_caches: no}"
    )
    return ["bench", "run", str(plan), "--out", str(tmp_path / "p.jsonl")]


@pytest.mark.machine
def test_the_whole_command(
    command: list[str], tmp_path: Path, labs: Labs, capsys: pytest.CaptureFixture[str]
) -> None:
    report = tmp_path / "p.html"
    assert run_command([*command, "--json", "--report", str(report)]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["left"], found["report"]) == ([], str(report))
    assert [(made["warm_up"], made["invalid"]) for made in found["made"]] == [
        *[(True, None)] * 2,
        *[(False, None)] * 2,
    ]
    assert "4 runs, 0 INVALID" in err
    assert not any(lab.is_up for lab in labs.started)
    runs = read_results(report, say=print)
    assert runs == read_results(tmp_path / "p.jsonl", say=print)
    assert runs[0].configuration["page_cache"] == "as the run before left it"
    assert str(tmp_path) not in runs[0].model_dump_json()

    assert run_command(command) == 2
    assert "give --resume" in capsys.readouterr().err
    assert run_command([*command, "--resume", "--dry-run"]) == 0
    assert capsys.readouterr().err.startswith("0 runs, ")
    assert run_command([*command, "--resume"]) == 0
    assert len(labs.started) == 1
    assert read_results(tmp_path / "p.jsonl", say=print) == runs


@pytest.mark.machine
def test_an_invalid_run_is_said_by_the_exit_status_and_runs_again(
    command: list[str], tmp_path: Path, labs: Labs, capsys: pytest.CaptureFixture[str]
) -> None:
    labs.digests[3] = "other"
    assert run_command(command) == 1
    assert "1 run is INVALID; its output is wrong: it is other, stock's abc" in (
        capsys.readouterr().err
    )
    assert run_command([*command, "--resume", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["made"]) == 1
    assert sum(run.counts for run in read_results(tmp_path / "p.jsonl", say=print)) == 2


@pytest.mark.machine
def test_a_budget_that_is_too_small_says_what_is_left(
    command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command([*command, "--budget", "1s"]) == 0
    assert "the budget ended with 4 runs left: go on by --resume" in capsys.readouterr().err


@pytest.mark.machine
def test_the_shuffles_plan_in_a_lab(
    command: list[str],
    tmp_path: Path,
    labs: Labs,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("vas_bench.shuffle.command.build_of_plugins", lambda: "build")
    file = str(tmp_path / "runs.jsonl")
    words = ["bench", "shuffle", "--size", "64M", "--rounds", "1", "--resume", file, "--json"]
    assert run_command([*words, "--rows", "wordcount"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["name"], row["n"]) == ("WordCount with combiner: job time / stock's", 1)
    (lab,) = labs.started
    assert lab.options.hosts == 4
    assert lab.options.properties["mapreduce.task.io.sort.mb"] == "200"
    told = [conf for name, conf in lab.jobs if name == "wordcount"]
    assert {conf["vas.lustre.block-size"] for conf in told} == {str(8 << 20)}
    assert {conf["mapreduce.job.reduces"] for conf in told} == {"4"}
    tags = [conf["mapreduce.job.tags"] for conf in told]
    # Stock's output for the comparison, and then both systems in the order that was drawn.
    assert tags[0] == "vas-placement-off"
    assert sorted(tags[1:]) == ["vas-placement-off", "vas-shuffle,vas-placement-off"]
    buffers = {conf["mapreduce.job.tags"]: conf.get("mapreduce.task.io.sort.mb") for conf in told}
    assert buffers == {"vas-placement-off": None, "vas-shuffle,vas-placement-off": "64"}
    runs = read_results(Path(file), say=print)
    assert {run.configuration["lab_properties"]["mapreduce.map.memory.mb"] for run in runs} == {
        "512"
    }
    assert len({run.configuration_hash for run in runs}) == 2
    assert len({tuple(run.parameters.items()) for run in runs}) == 1
