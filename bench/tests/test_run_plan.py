"""Plans: what they say, what they refuse, and whose turn it is."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vas_bench.engine.rounds import Round, RunIdentity, draw_rounds, missing
from vas_bench.run.estimate import estimated_seconds, estimates
from vas_bench.run.experiments import Experiment, experiments
from vas_bench.run.plan import BenchPlan
from vas_bench.run.systems import PROFILES, configuration, sizes_of
from vas_core.cli import run_command
from vas_core.durations import format_duration, parse_duration
from vas_core.errors import BadInput
from vas_core.repository import REPOSITORY
from vas_core.settings import read_yaml

HDFS = "hdfs://rm:8020"
PLANS = REPOSITORY / "bench/plans"


def plan(**changed: Any) -> BenchPlan:
    usual: dict[str, Any] = {"name": "p", "workloads": "terasort", "systems": ["vas"]}
    return BenchPlan.model_validate(usual | changed)


def identities(of: BenchPlan) -> list[RunIdentity[Experiment]]:
    return [RunIdentity(each, {"page_cache": "kept"}, {"vas": "0"}) for each in experiments(of)]


@pytest.mark.parametrize("file", sorted(PLANS.glob("*.yaml")), ids=lambda file: file.stem)
def test_the_plans_that_come_along_can_be_read(file: Path) -> None:
    found = read_yaml(file, BenchPlan)
    assert found.name == file.stem
    assert experiments(found)


def test_the_quick_plan_has_four_systems_and_less_than_20_minutes() -> None:
    quick = read_yaml(PLANS / "quick.yaml", BenchPlan)
    drawn = draw_rounds(identities(quick), rounds=quick.rounds, warm_up=quick.warm_up, seed=1)
    assert len(quick.systems) == 4
    assert quick.budget is not None
    assert 20 * 60 > quick.budget > sum(estimated_seconds(drawn))


def test_a_workload_with_more_to_move_is_expected_to_take_longer() -> None:
    def seconds(workload: str) -> float:
        (round_,) = draw_rounds(identities(plan(workloads=workload)), rounds=1, warm_up=0, seed=1)
        return sum(estimated_seconds([round_]))

    assert seconds("wordcount") < seconds("selfjoin") < seconds("sequencecount")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("systems: [hdfs]", "systems[0]: "),
        ("run_limit: 0s", "run_limit: '0s' is not a time"),
        ("systems: [vas, vas]", "systems: names something twice"),
        ("workloads: []", "workloads: "),
        ("workloads: egrep", "workloads[0]: "),
        ("parameters: {size: 25X}", "parameters.size[0]: '25X' is not a size; write it like"),
        ("parameters: {split: 100000K, size: 1G}", "parameters.split[0]: a split is a stripe"),
        ("parameters: {split: 8M}", "parameters.split[0]: give 16 MiB or more"),
        ("parameters: {split: 1G, size: 512M}", "parameters: a split of 1 GiB is more than"),
        ("parameters: {hosts: 65}", "parameters.hosts[0]: "),
        ("parameters: {flock: sometimes}", "parameters.flock[0]: "),
        ("parameters: {splt: 1M}", "parameters.splt: "),
        ("budget: soon", "budget: 'soon' is not a time; write it like"),
        ("rounds: 0", "rounds: "),
        ("rounds: true", "rounds: "),
        ("rounds: 1000000", "rounds: "),
        ("name: a b", "name: "),
    ],
)
def test_a_bad_key_is_named(
    tmp_path: Path, text: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = {"name": "name: p", "workloads": "workloads: terasort", "systems": "systems: vas"}
    keys = {line.partition(":")[0] for line in text.splitlines()}
    file = tmp_path / "plan.yaml"
    file.write_text("\n".join([text, *(v for k, v in usual.items() if k not in keys)]))
    assert run_command(["bench", "run", str(file), "--dry-run"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"vas: {file}: {problem}")


def test_a_plan_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read_yaml(tmp_path / "none.yaml", BenchPlan)


def test_experiments_are_the_product() -> None:
    found = experiments(
        plan(
            workloads=["terasort", "sort"],
            systems=["vas", "yarn-lustre"],
            parameters={"size": ["64M", "128M"], "codec": ["none", "lz4"]},
        )
    )
    assert len(found) == len(set(found)) == 16
    assert [each.system for each in found[:2]] == ["yarn-lustre", "vas"]
    assert found[0].parameters == {
        "size_bytes": 64 << 20,
        "split_bytes": 32 << 20,
        "reducers": 4,
        "hosts": 4,
        "links": "honest",
    }
    assert found[2].parameters["codec"] == "lz4"


def test_every_parameter_and_every_property_has_a_hash_of_its_own() -> None:
    many = plan(
        systems=["yarn-hdfs", "yarn-lustre", "yarn-lustre-hosts", "tez", "vas-locality", "vas"],
        parameters={
            "size": ["64M", "128M"],
            "split": ["32M", "64M"],
            "reducers": [2, 4],
            "hosts": [1, 2],
            "codec": ["none", "gzip", "lz4"],
            "jvm": ["lab", "roomy", "c2"],
        },
    )
    hashes = set()
    for properties in ({}, {"mapreduce.task.io.sort.mb": "64"}):
        for cache in ("dropped", "kept"):
            hashes |= {
                RunIdentity(each, configuration(each, properties, cache, hdfs=HDFS), {}).hash
                for each in experiments(many)
            }
    assert len(hashes) == 4 * len(experiments(many)) == 4 * 6 * 16 * 9


def test_what_differs_is_in_the_configuration() -> None:
    (it,) = experiments(plan(parameters={"codec": "lz4", "jvm": "c2"}))
    properties = configuration(it, {"a": "b"}, "kept")["properties"]
    assert properties["a"] == "b"
    assert properties["mapreduce.map.output.compress.codec"].endswith(".Lz4Codec")
    assert properties["mapreduce.map.java.opts"].endswith("TieredStopAtLevel=4")
    assert properties["vas.lustre.block-size"] == str(32 << 20)
    assert PROFILES["roomy"].lab and not PROFILES["c2"].lab


def test_hdfs_is_the_jobs_file_system_and_beside_it_runs_are_other_runs() -> None:
    hdfs, lustre = experiments(plan(systems=["yarn-lustre", "yarn-hdfs"]))
    assert (hdfs.in_hdfs, lustre.in_hdfs) == (True, False)
    found = configuration(hdfs, {}, "kept", hdfs=HDFS)
    assert found["lab_daemons"] == ["namenode", "datanode"]
    assert found["properties"]["fs.defaultFS"] == "hdfs://rm:8020"
    assert found["properties"]["dfs.blocksize"] == str(32 << 20)
    alone, beside = (configuration(lustre, {}, "kept", hdfs=root) for root in ("", HDFS))
    assert "lab_daemons" not in alone and alone != beside
    assert "fs.defaultFS" not in beside["properties"]


def test_a_first_turn_on_hdfs_takes_longer_by_the_copy() -> None:
    def first(system: str) -> float:
        drawn = draw_rounds(identities(plan(systems=[system])), rounds=2, warm_up=0, seed=1)
        seconds = estimated_seconds(drawn)
        return seconds[0] - seconds[1]

    assert first("yarn-hdfs") > first("vas") + 10


def test_no_job_may_take_longer_than_its_limit_nor_than_the_budget() -> None:
    def limit(**told: str) -> int:
        fields = {"name": "p", "workloads": "sort", "systems": "vas"} | told
        return BenchPlan.model_validate(fields).limit_seconds

    assert limit() == 1800
    assert limit(run_limit="2h") == 7200
    assert limit(run_limit="2h", budget="20m") == 1200
    assert limit(run_limit="90s", budget="20m") == 90


def test_an_input_is_cut_into_splits() -> None:
    (it,) = experiments(plan(parameters={"size": "100M", "split": "32M", "reducers": 3}))
    sizes = sizes_of(it)
    assert (sizes.maps, sizes.generators, sizes.reducers) == (4, 2, 3)
    assert 0 <= it.size_bytes - sizes.size_bytes < 100


@pytest.mark.unhurried
@given(rounds=st.integers(1, 4), warm_up=st.integers(0, 2), seed=st.integers(0, 50))
def test_every_round_has_every_experiment_once_and_a_lab_once(
    rounds: int, warm_up: int, seed: int
) -> None:
    of = identities(plan(systems=["vas", "yarn-lustre"], parameters={"hosts": [1, 2, 4]}))
    drawn = draw_rounds(of, rounds=rounds, warm_up=warm_up, seed=seed)
    assert drawn == draw_rounds(of, rounds=rounds, warm_up=warm_up, seed=seed)
    assert len({round_.key for round_ in drawn}) == len(drawn) == 6 * (rounds + warm_up)
    assert [round_.warm_up for round_ in drawn] == [True] * 6 * warm_up + [False] * 6 * rounds
    for _, round_ in groupby(drawn, key=lambda round_: (round_.warm_up, round_.number)):
        sites = [key for key, _ in groupby(round_, key=lambda round_: round_.experiment.site)]
        assert len(sites) == 3


def test_more_rounds_leave_the_earlier_ones_as_they_were_and_orders_differ() -> None:
    of = identities(plan(systems=["yarn-lustre", "vas-locality", "vas"]))
    drawn = draw_rounds(of, rounds=9, warm_up=1, seed=3)
    assert drawn[:15] == draw_rounds(of, rounds=4, warm_up=1, seed=3)
    firsts = Counter(round_.experiment.system for round_ in drawn[::3])
    assert len(firsts) > 1


def test_what_is_done_is_not_missing_but_what_is_invalid_is() -> None:
    drawn = draw_rounds(identities(plan()), rounds=3, warm_up=1, seed=1)
    done = [round_run(drawn[0]), round_run(drawn[1]), round_run(drawn[2], invalid="it fell over")]
    assert missing(drawn, done) == drawn[2:]


def round_run(round_: Round[Experiment], **changed: Any) -> Any:
    usual: dict[str, Any] = {
        "id": f"{round_.title}",
        "time": "2026-01-01T00:00:00Z",
        "round": round_.number,
        "warm_up": round_.warm_up,
        "measures": {"job_seconds": 1.0},
    }
    return round_.identity.run(**(usual | changed))


def test_a_first_turn_takes_longer_and_what_was_measured_corrects() -> None:
    drawn = draw_rounds(identities(plan(parameters={"hosts": [1, 2]})), rounds=2, warm_up=0, seed=1)
    seconds = estimated_seconds(drawn)
    assert all(each > 60 for each in seconds[:2])
    found = estimates(drawn)
    assert found.of(drawn[0]) == seconds[0]
    again = next(t for t in drawn[1:] if t.identity == drawn[0].identity)
    before = seconds[0] - min(seconds)
    found.took(drawn[0], before + 7.0)
    # The second round starts each of the two labs anew: that is not the run's time.
    assert found.of(again) == before + 7.0


def test_titles_are_distinct() -> None:
    of = identities(plan(parameters={"codec": ["none", "gzip"], "jvm": ["lab", "c2"]}))
    drawn = draw_rounds(of, rounds=2, warm_up=2, seed=1)
    assert len({round_.title for round_ in drawn}) == len(drawn)


def test_dry_run_says_every_turn_and_how_long(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["bench", "run", str(PLANS / "quick.yaml"), "--dry-run"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 1 + 24
    assert err.startswith("24 runs, about ") and "(estimated)" in err


def test_times_are_read_and_written() -> None:
    assert [parse_duration(text) for text in ("90s", "20m", "2 h")] == [90, 1200, 7200]
    for wrong in ("", "5", "0m", "-1s", "1d", "1.5h"):
        with pytest.raises(BadInput):
            parse_duration(wrong)
    assert (format_duration(45), format_duration(1200)) == ("45 s", "20 min")
