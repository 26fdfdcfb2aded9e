"""Results: what a run may say, and a file that survives its writer."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_up_runs import made_up_results, made_up_run
from pydantic import ValidationError

from vas_bench.results.groups import RunGroup, grouped
from vas_bench.results.measures import MEASURES
from vas_bench.results.record import UNACCOUNTED, BenchRun, canonical_hash, close
from vas_bench.results.store import RunStore, embed, embedded_lines, parse, read_results
from vas_bench.run import measures
from vas_bench.run.measures import COUNTED
from vas_core.errors import BadInput, VasError

_LINE = made_up_run().model_dump_json()


@given(st.dictionaries(st.text(min_size=1), st.floats(0, 1e4), max_size=6), st.floats(0, 1e4))
def test_phases_and_the_rest_add_up_to_the_job(phases: dict[str, float], rest: float) -> None:
    phases.pop(UNACCOUNTED, None)
    job = sum(phases.values()) + rest
    closed = close(phases, job)
    assert list(closed) == [*phases, UNACCOUNTED]
    assert sum(closed.values()) == pytest.approx(job, abs=0.02)
    assert close(closed, job) == closed


@pytest.mark.parametrize(
    ("phases", "wrong"),
    [
        ({"map": 15.0, "reduce": 5.1}, "0.100 s more than the job's 20 s"),
        ({"map": -1.0}, "takes -1 s"),
        ({"map": 5.0, "unaccounted": 10.0}, "10 s are said to be unaccounted, 15.000 s are"),
    ],
)
def test_phases_that_do_not_close_are_refused(phases: dict[str, float], wrong: str) -> None:
    with pytest.raises(ValidationError, match=wrong):
        made_up_run(phases=phases)


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"measures": {"job_seconds": 1, "speed": 2}, "phases": {}}, "unknown measures: speed"),
        ({"measures": {"job_seconds": 0}}, "job_seconds is 0"),
        ({"measures": {}}, "without job_seconds is invalid"),
        ({"validation": {"ok": False}}, "whose output is wrong is invalid"),
        ({"invalid": " "}, "has to say why"),
        ({"system": "hadoop"}, "yarn-hdfs"),
        ({"configuration_hash": "0" * 64}, "not that of the configuration"),
        ({"environment_fingerprint": "0" * 64}, "not that of the environment"),
        ({"measures": {"job_seconds": float("nan")}}, "finite"),
        ({"colour": "red"}, "Extra inputs"),
    ],
)
def test_a_run_that_is_not_honest_is_refused(fields: dict[str, Any], wrong: str) -> None:
    with pytest.raises(ValidationError, match=wrong):
        made_up_run(**fields)


def test_a_run_that_never_ended_says_why() -> None:
    run = made_up_run(measures={}, phases={"map": 99.0}, invalid="no end after 600 s")
    assert not run.counts
    assert run.phases == {"map": 99.0}


def test_what_arms_are_judged_by_is_in_the_table() -> None:
    assert {*measures.COMPARED, *COUNTED} <= set(MEASURES)
    assert all(measure.meaning for measure in MEASURES.values())


def test_parts_of_a_measure_have_its_name() -> None:
    run = made_up_run(measures={"job_seconds": 20.0, "cpu_seconds/guests": 3, "gc_seconds": 1})
    assert run.measures["cpu_seconds/guests"] == 3


def test_the_hash_is_of_all_that_makes_the_experiment() -> None:
    same = made_up_run(1, measures={"job_seconds": 30.0}, command="another")
    assert same.configuration_hash == made_up_run().configuration_hash
    for change in (
        {"parameters": {"hosts": 5}},
        {"configuration": {"mapreduce.task.io.sort.mb": "64"}},
        {"versions": {"hadoop": "0.1-made-up"}},
        {"system": "tez"},
        {"workload": "sort"},
    ):
        assert made_up_run(**change).configuration_hash != same.configuration_hash


def test_the_hash_does_not_depend_on_the_order_of_keys() -> None:
    assert canonical_hash({"a": 1, "b": [1.5, "ü"]}) == canonical_hash({"b": [1.5, "ü"], "a": 1})
    assert canonical_hash({"a": 1}) != canonical_hash({"a": "1"})


def test_only_one_experiment_is_ever_a_group() -> None:
    one, two = made_up_run(1), made_up_run(2, configuration={"codec": "lz4"})
    with pytest.raises(VasError, match="2 configurations"):
        RunGroup((one, two))
    assert [len(group.runs) for group in grouped([one, two, made_up_run(3)])] == [2, 1]
    moved = made_up_run(4, environment={"cpus": 3})
    with pytest.raises(VasError, match="2 configurations"):
        RunGroup((one, moved))


def test_warm_ups_and_invalid_runs_are_in_no_group() -> None:
    groups = grouped(made_up_results(rounds=3))
    assert [len(group.runs) for group in groups] == [3] * 10
    assert [group.system for group in groups[:2]] == ["yarn-lustre", "yarn-lustre-hosts"]


@given(st.lists(st.integers(0, 99), unique=True, max_size=5), st.integers(1, 40))
def test_a_torn_last_line_costs_that_line_alone(numbers: list[int], cut: int) -> None:
    whole = b"".join(made_up_run(n).model_dump_json().encode() + b"\n" for n in numbers)
    content = parse(whole + _LINE.encode()[:-cut])
    assert [run.id for run in content.runs] == [f"made-up-{n}" for n in numbers]
    assert content.torn_line == len(numbers) + 1
    assert not content.damaged


def test_damaged_lines_are_named_by_number(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    lines = [_LINE, "{", made_up_run(1).model_dump_json(), '{"id": 3}', _LINE, ""]
    file.write_text("\n".join(lines))
    said: list[str] = []
    with pytest.raises(BadInput) as refused:
        read_results(file, say=said.append)
    assert all(f"line {number}: " in str(refused.value) for number in (2, 4, 5))
    assert "--skip-damaged" in str(refused.value)
    assert refused.value.exit_status == 2
    runs = read_results(file, say=said.append, skip_damaged=True)
    assert [run.id for run in runs] == ["made-up-0", "made-up-1"]
    assert [f"line {n}:" in text for n, text in zip((2, 4, 5), said, strict=True)] == [True] * 3
    assert "the same id as line 1" in said[2]


def test_a_file_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        read_results(tmp_path / "none", say=print)
    (tmp_path / "empty").touch()
    with pytest.raises(BadInput, match="holds no run"):
        read_results(tmp_path / "empty", say=print)
    for other in ("site: lab\nhosts: []\n", "a line", "PK\x03\x04\n\n", "[]\n"):
        (tmp_path / "other").write_text(other)
        with pytest.raises(BadInput) as refused:
            read_results(tmp_path / "other", say=print)
        said = f"{tmp_path / 'other'}: is not a file of results; `vas bench run` makes some"
        assert str(refused.value) == said


def test_what_was_appended_is_read_back(tmp_path: Path) -> None:
    file, runs = tmp_path / "results.jsonl", made_up_results(rounds=1)
    for half in (runs[:7], runs[7:]):
        with RunStore.open(file) as writer:
            for run in half:
                writer.append(run)
    assert read_results(file, say=print) == tuple(runs)


def test_a_writer_cuts_off_what_a_killed_one_left(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text(f"{_LINE}\n{_LINE[:50]}")
    with RunStore.open(file) as writer:
        assert writer.content.torn_line == 2
        writer.append(made_up_run(1))
    assert [run.id for run in read_results(file, say=print)] == ["made-up-0", "made-up-1"]


def test_a_last_line_that_only_lacks_its_end_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    file.write_text(_LINE)
    with RunStore.open(file) as writer:
        writer.append(made_up_run(1))
    assert len(read_results(file, say=print)) == 2


def test_there_is_one_writer(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    with (
        RunStore.open(file),
        pytest.raises(VasError, match="another process writes to it"),
        RunStore.open(file),
    ):
        pass
    with RunStore.open(file) as writer:
        assert writer.content.runs == ()


_ENDLESS = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from made_up_runs import made_up_run
from vas_bench.results.store import RunStore
with RunStore.open(Path(sys.argv[1])) as writer:
    for number in range(10**6):
        writer.append(made_up_run(number))
        print(number, flush=True)
"""


@pytest.mark.machine
def test_kill_9_loses_no_run_that_was_appended(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    argv = [sys.executable, "-c", _ENDLESS, str(file), str(Path(__file__).parent)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            if line == "20\n":
                break
        writer.send_signal(signal.SIGKILL)
    runs = read_results(file, say=print)
    assert len(runs) >= 21
    assert [run.id for run in runs] == [f"made-up-{n}" for n in range(len(runs))]


_FULL = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from made_up_runs import made_up_run
from vas_bench.results.store import RunStore
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
with RunStore.open(Path(sys.argv[1])) as writer:
    for number in range(9):
        writer.append(made_up_run(number))
"""


@pytest.mark.machine
def test_a_run_that_does_not_fit_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    argv = [sys.executable, "-c", _FULL, str(file), str(Path(__file__).parent)]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "bytes were written" in done.stderr or "File too large" in done.stderr
    content = parse(file.read_bytes())
    assert content.runs
    assert content.torn_line is None


def test_a_report_carries_its_runs_and_no_markup() -> None:
    runs = tuple(made_up_results(rounds=1))
    text = embed(runs)
    assert text.count("<") == 2
    page = f"<html>{text}</html>".encode()
    assert parse(embedded_lines(page)).runs == runs
    assert embedded_lines(b"{}\n") == b"{}\n"


def test_every_field_of_a_run_is_in_its_line() -> None:
    curves = {"device_requests": [(0.0, 0.0), (1.0, 5.0)]}
    line = made_up_run(round=1, curves=curves).model_dump_json()
    assert set(json.loads(line)) == set(BenchRun.model_fields)
    assert set(json.loads(_LINE)) == set(BenchRun.model_fields) - {"round", "curves"}


def test_experiments_stand_in_the_order_of_numbers() -> None:
    runs = [made_up_run(hosts, parameters={"hosts": hosts}) for hosts in (12, 1, 2)]
    assert [group.runs[0].parameters["hosts"] for group in grouped(runs)] == [1, 2, 12]
    mixed = [made_up_run(n, parameters={"codec": value}) for n, value in enumerate(("lz4", True))]
    assert len(grouped(mixed)) == 2
