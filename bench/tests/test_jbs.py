"""`vas bench jbs`: its plan and goals, what is seen of a lab meanwhile, and runs that are kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from made_up_plans import WATCHED, Watched
from made_up_site import Recorded

from vas_bench.jbs.command import GOALS, PLAN, on_hosts, planned
from vas_bench.results.measures import measure_of
from vas_bench.results.record import BenchRun, make_run
from vas_bench.run.lab_watch import LabWatch, below, kind_of, open_ports, shuffle_threads
from vas_bench.run.measures import COMPARED
from vas_bench.shuffle.goals import STOCK, read_goals, rows
from vas_core.cli import run_command
from vas_core.root import Root
from vas_lab.procfs import processes
from vas_yarn.jobs.systems import NODE_ARMS, SYSTEMS, System
from vas_yarn.submit.master import MASTER

MEMORY, OPEN, STOCK_OPEN, _ = WATCHED
DAEMON, STOCK_HANDLER = 13563, 13562


def test_the_goals_are_those_that_were_set() -> None:
    limits = {
        f"{PLAN.jobs[job].title}: {goal.row}": goal.limit
        for job, goals in read_goals(GOALS).items()
        for goal in goals
    }
    ours, warm = "job time, VAS's collector / stock's", "job time, warm containers / stock's"
    much = ("SelfJoin", "InvertedIndex", "SequenceCount", "AdjacencyList")
    assert limits == {
        "TeraSort: all CPU, stock's map side / stock's": 0.85,
        "TeraSort: job time, stock's map side / stock's": 0.85,
        "TeraSort: all CPU, VAS's collector / stock's": 0.45,
        f"TeraSort: {ours}": 0.47,
        "TeraSort: all CPU, warm containers / stock's": 0.35,
        "TeraSort: job time, warm containers / stock's": 0.38,
        "TeraSort: all CPU, warm containers, merged by the daemon / stock's": 0.35,
        "TeraSort: job time, warm containers, merged by the daemon / stock's": 0.38,
        "TeraSort: memory of tasks and daemons, stock's map side / stock's": 0.60,
        "TeraSort: memory of tasks and daemons, VAS's collector / stock's": 0.60,
        "TeraSort: connections open at once": 12,
        "TeraSort: connections open at once (stock)": None,
        "TeraSort: threads of a reducer for the shuffle": 1,
        "TeraSort: threads of a reducer for the shuffle (stock)": None,
        "TeraSort, memory a tenth of the data: reduce-side records spilled, stock's map side": 0,
        "TeraSort, memory a tenth of the data: reduce-side records spilled, VAS's collector": 0,
        "TeraSort, memory a tenth of the data: reduce-side records spilled (stock)": None,
        f"WordCount with combiner: {ours}": 1.0,
        f"Grep: {ours}": 1.0,
        f"1 map, 10 MB: {ours}": 1.05,
        **{f"{job}: {which}": 0.60 for job in much for which in (ours, warm)},
    }


def test_every_goal_is_of_a_system_that_runs_and_of_a_measure_that_is_known() -> None:
    assert set(PLAN.jobs) == set(read_goals(GOALS))
    for job, goals in read_goals(GOALS).items():
        for goal in goals:
            assert {*goal.systems, STOCK} <= set(PLAN.jobs[job].systems), goal.row
            assert goal.measure in COMPARED or goal.measure in WATCHED, goal.row
    assert all(measure_of(name) for name in WATCHED)


def told(key: str) -> dict[System, Mapping[str, str]]:
    return {each.system: dict(each.system_properties) for each in PLAN.experiments(key, 1 << 30)}


@pytest.mark.parametrize("key", PLAN.jobs)
def test_all_systems_of_a_job_have_the_same_flags(key: str) -> None:
    options = ("mapreduce.map.java.opts", "mapreduce.reduce.java.opts")
    flags = [{each.get(name) for name in options} for each in told(key).values()]
    assert all(each == flags[0] and len(each) == 1 for each in flags)


def test_reducers_of_the_row_of_spills_hold_a_tenth_of_their_data() -> None:
    (stock, *others) = PLAN.experiments("little-memory", 1 << 30)
    heap = {dict(it.system_properties)["mapreduce.reduce.memory.totalbytes"] for it in others}
    assert heap == {dict(stock.system_properties)["mapreduce.reduce.memory.totalbytes"]}
    # mapreduce.reduce.shuffle.input.buffer.percent
    memory = 0.70 * int(heap.pop())
    assert memory == pytest.approx(stock.size_bytes / stock.reducers / 10, rel=1e-4)


def test_the_arms_add_one_thing_after_another() -> None:
    stocks, collector, warm, merged = (dict(arm.properties) for arm in NODE_ARMS)
    names = ["jbs", "jbs-collector", "jbs-warm", "jbs-merged"]
    assert [arm.system for arm in NODE_ARMS] == names
    assert {arm.system for arm in NODE_ARMS} <= set(SYSTEMS)
    key = "mapreduce.job.map.output.collector.class"
    assert stocks[key] == "org.apache.hadoop.mapred.MapTask$MapOutputBuffer"
    assert collector == stocks | {key: "org.vas.shuffle.map.LocalCollector"}
    added = {name: value for name, value in warm.items() if collector.get(name) != value}
    assert set(collector) <= set(warm)
    assert added.pop("yarn.app.mapreduce.am.command-opts").endswith(MASTER)
    assert added == {
        "vas.containers.reuse": "auto",
        "vas.containers.reuse.locality-delay": "0ms",
    }
    assert merged == warm | {"vas.shuffled.delivery": "merged"}


def run(system: System, number: int, **changed: float) -> BenchRun:
    return make_run(
        id=f"{system}-{number}",
        time="2026-01-01T00:00:00Z",
        workload="terasort",
        system=system,
        round=number,
        measures=dict.fromkeys(COMPARED, 100.0) | WATCHED | changed,
        validation={"ok": True, "checksum": "sum"},
    )


def test_each_arm_is_held_against_stock_of_the_same_rounds() -> None:
    seconds: dict[System, float] = {
        STOCK: 100.0,
        "jbs": 80.0,
        "jbs-collector": 48.0,
        "jbs-warm": 30.0,
        "jbs-merged": 28.0,
    }
    runs = [run(s, n, client_seconds=t + n) for n in range(5) for s, t in seconds.items()]
    found = {row.name: row for row in rows("TeraSort", read_goals(GOALS)["terasort"], runs)}
    times = [row for name, row in found.items() if "job time" in name]
    assert [row.value for row in times] == [
        pytest.approx(s / 102) for s in (82.0, 50.0, 32.0, 30.0)
    ]
    assert [row.met for row in times] == [True, False, True, True]
    assert found["TeraSort: connections open at once"].met is True
    assert found["TeraSort: threads of a reducer for the shuffle"].met is False


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> Recorded:
    site = Watched()
    monkeypatch.setattr("vas_bench.run.conduct.planned_site", site.opened)
    monkeypatch.setattr("vas_bench.jbs.command.build_of_plugins", lambda: "build")
    monkeypatch.setattr("vas_bench.jbs.command.find_shuffled", lambda: Path(__file__))
    return site


def test_what_is_in_the_file_does_not_run_again(
    recorded: Recorded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "runs.jsonl")
    for rounds in ("1", "2"):
        words = ["--rows", "one-map", "--rounds", rounds, "--resume", file, "--json"]
        assert run_command(["bench", "jbs", *words]) == 0
        (row,) = json.loads(capsys.readouterr().out)["rows"]
        assert (row["name"], row["n"]) == (
            "1 map, 10 MB: job time, VAS's collector / stock's",
            int(rounds),
        )
    assert sorted(recorded.ran) == ["jbs-collector"] * 2 + [STOCK] * 2
    assert recorded.plan.with_shuffled


def test_another_output_than_stocks_makes_its_rows_invalid(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded.checksums["jbs-collector"] = "other"
    words = ["--rows", "terasort", "--rounds", "1", "--json"]
    assert run_command(["bench", "jbs", *words]) == 1
    invalid = {r["name"] for r in json.loads(capsys.readouterr().out)["rows"] if "invalid" in r}
    assert len(invalid) == 5
    assert all("VAS's collector" in n or n.endswith(("once", "shuffle")) for n in invalid)


def test_a_dry_run_starts_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "jbs", "--rounds", "1", "--rows", "terasort", "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert out.count("round 1: TeraSort, ") == 5
    assert "min on two quiet cores" in err


def test_a_few_systems_on_fewer_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["bench", "jbs", "--rounds", "1", "--dry-run", "--hosts", "2", "--system", "jbs-warm"]
    assert run_command(words) == 0
    out = capsys.readouterr().out
    warm = [job for job in PLAN.jobs.values() if "jbs-warm" in job.systems]
    assert out.count("jbs-warm") == out.count(STOCK) == len(warm)
    assert out.count("round 1: ") == 2 * len(warm)
    assert run_command([*words, "--rows", "one-map"]) == 2
    assert "--system: no job of --rows runs on these" in capsys.readouterr().err
    two = PLAN.model_copy(update={"hosts": 2})
    assert {e.hosts for e in planned(two, 1 << 30, ["terasort"], ["jbs"])["terasort"]} == {2}
    goals = on_hosts(read_goals(GOALS)["terasort"], 2)
    (links,) = (goal for goal in goals if goal.measure == "open_connections/daemons")
    assert links.limit == 2


def test_systems_that_were_chosen_are_held_against_stock(
    recorded: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--rows", "terasort", "--rounds", "1", "--json", "--system", "jbs-collector"]
    assert run_command(["bench", "jbs", *words]) == 0
    assert sorted(recorded.ran) == ["jbs-collector", STOCK]
    names = {row["name"] for row in json.loads(capsys.readouterr().out)["rows"]}
    assert "TeraSort: job time, VAS's collector / stock's" in names
    assert not any("warm" in name for name in names)


def proc(root: Path, pid: int, parent: int, *argv: str, pss_kib: int = 0) -> Path:
    """Writes what /proc shows of a process; returns its directory."""
    made = root / "proc" / str(pid)
    (made / "net").mkdir(parents=True)
    fields = " ".join(["S", str(parent), *["0"] * 50])
    (made / "stat").write_text(f"{pid} (a b) {fields}\n")
    (made / "cmdline").write_text("\0".join(argv) + "\0")
    (made / "smaps_rollup").write_text(f"00-ff ---p [rollup]\nRss: 99 kB\nPss: {pss_kib} kB\n")
    return made


def sockets(*remote: tuple[int, str]) -> str:
    head = "  sl  local_address rem_address   st\n"
    lines = (
        f"   {n}: 0100007F:D431 0200007F:{port:04X} {state} 00000000:00000000\n"
        for n, (port, state) in enumerate(remote)
    )
    return head + "".join(lines)


def named(process: Path, *threads: str) -> None:
    for number, name in enumerate(threads):
        (process / f"task/{number}").mkdir(parents=True)
        # The kernel keeps 15 letters.
        (process / f"task/{number}/comm").write_text(name[:15] + "\n")


@pytest.fixture
def seen(tmp_path: Path) -> Root:
    """A lab of a NodeManager with a daemon, two tasks and their shells; and another's task."""
    child = "org.apache.hadoop.mapred.YarnChild"
    proc(tmp_path, 10, 1, "python", "supervisor")
    node = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
    manager = proc(tmp_path, 11, 10, "/usr/bin/java", "-Xmx9m", node, pss_kib=1000)
    (manager / "net/tcp").write_text(
        sockets((DAEMON, "01"), (DAEMON, "01"), (DAEMON, "06"), (8032, "01"))
    )
    (manager / "net/tcp6").write_text(sockets((STOCK_HANDLER, "01"), (STOCK_HANDLER, "0A")))
    proc(tmp_path, 12, 11, "/somewhere/vas-shuffled", "--listen", "x", pss_kib=3)
    proc(tmp_path, 13, 11, "bash", "-c", f"java {child} 127.0.0.1", pss_kib=500)
    reducer = proc(tmp_path, 14, 13, "java", child, "127.0.0.1", pss_kib=70)
    named(reducer, "java", "main", "vas-read-0", "vas-read-1", "vas-merge", "EventPoller")
    stocks = proc(tmp_path, 15, 13, "java", child, "127.0.0.1", pss_kib=80)
    named(stocks, "fetcher#1", "fetcher#2", "EventFetcher for fetching Map Completion Events")
    map_task = proc(tmp_path, 16, 13, "java", child, "::1", "attempt_1_0001_m_000002_0", pss_kib=5)
    named(map_task, "vas-read-0", "vas-read-1", "vas-read-2", "vas-read-3")
    proc(tmp_path, 20, 1, "java", child, pss_kib=9000)
    return Root(tmp_path)


def test_processes_of_the_lab_are_told_from_others(seen: Root) -> None:
    pids = {each.pid for each in below(processes(seen), 10)}
    assert pids == {11, 12, 13, 14, 15, 16}
    kinds = {pid: kind_of(seen.read(f"proc/{pid}/cmdline") or "") for pid in pids}
    assert kinds == {11: "node", 12: "daemon", 13: None, 14: "task", 15: "task", 16: "map"}


def test_connections_and_threads_of_the_shuffle_are_counted(seen: Root) -> None:
    assert sorted(open_ports(seen, 11)) == [8032, STOCK_HANDLER, DAEMON, DAEMON]
    assert [shuffle_threads(seen, pid) for pid in (14, 15, 99)] == [3, 3, 0]


def test_the_largest_of_what_was_seen_is_kept(seen: Root) -> None:
    watch = LabWatch(seen, 10)
    found: dict[str, Any] = watch.stop()
    assert found == {
        MEMORY: (3 + 70 + 80 + 5) * 1024,
        OPEN: 2,
        STOCK_OPEN: 1,
        "shuffle_threads": 3,
    }
