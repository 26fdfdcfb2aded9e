"""Spark's event log, and `vas job locality` of an application of Spark."""

from __future__ import annotations

import json
import os
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import pytest
from spark_site import make_site

from vas_core.cli import run_command
from vas_core.errors import BadInput
from vas_yarn.spark.eventlog import find_event_log, read_stages

APPLICATION = "application_1764370000000_0007"


@pytest.fixture(autouse=True)
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return make_site(tmp_path, monkeypatch)


def task(stage: int, place: str, read: int, reason: str = "Success") -> dict[str, object]:
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Stage Attempt ID": 0,
        "Task End Reason": {"Reason": reason},
        "Task Info": {"Locality": place, "Host": "vm1"},
        "Task Metrics": {"Input Metrics": {"Bytes Read": read}},
    }


def write_log(file: Path, events: Iterable[dict[str, object]], end: str = "") -> Path:
    file.write_text(
        "".join(json.dumps(event, separators=(",", ":")) + "\n" for event in events) + end
    )
    return file


def test_stages_of_an_event_log(tmp_path: Path) -> None:
    named = {"Stage ID": 0, "Stage Attempt ID": 0, "Stage Name": "text at app.py:3"}
    log = write_log(
        tmp_path / "log",
        [
            {"Event": "SparkListenerLogStart", "App Name": "SparkListenerTaskEnd"},
            task(0, "NODE_LOCAL", 100),
            task(0, "ANY", 50),
            task(0, "NODE_LOCAL", 100, "TaskKilled"),
            {"Event": "SparkListenerStageCompleted", "Stage Info": named},
            task(1, "PROCESS_LOCAL", 0),
        ],
        end='{"Event":"SparkListenerTaskEnd","Stage',
    )
    first, second = read_stages(log)
    assert (first.name, first.read, first.read_local) == ("text at app.py:3", 150, 100)
    assert dict(first.tasks) == {"NODE_LOCAL": 1, "ANY": 1}
    assert (second.placed, second.tasks.total()) == (0, 1)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    log = write_log(tmp_path / "log", [], '{"Event":"SparkListenerTaskEnd",\n{}\n')
    with pytest.raises(BadInput, match="is not JSON"):
        read_stages(log)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("Stage ID", {}),
        ("Stage Attempt ID", "0"),
        ("Task End Reason", ["Success"]),
        ("Task Info", 7),
        ("Task Metrics", "none"),
        ("Task Metrics", {"Input Metrics": [1]}),
        ("Task Metrics", {"Input Metrics": {"Bytes Read": 1e999}}),
        ("Task Metrics", {"Input Metrics": {"Bytes Read": 10**400}}),
    ],
)
def test_a_value_of_another_kind_counts_as_none(
    site: Path, capsys: pytest.CaptureFixture[str], key: str, value: object
) -> None:
    assert run_command(["spark", "config", "--out", str(site / "f")]) == 0
    (events,) = (site / "lustre/yarn").glob("*/.staging/spark-events")
    write_log(events / APPLICATION, [task(0, "ANY", 5), task(0, "ANY", 5) | {key: value}])
    assert run_command(["job", "locality", APPLICATION]) == 0
    assert "task" in capsys.readouterr().out


def test_a_line_that_nests_too_deeply_is_named(tmp_path: Path) -> None:
    nested = '{"Event":"SparkListenerTaskEnd","x":' + "[" * 200_000 + "\n"
    log = write_log(tmp_path / "log", [task(0, "ANY", 5)], nested)
    with pytest.raises(BadInput, match="log:2: is not JSON"):
        read_stages(log)


def test_a_line_without_an_end_is_not_held_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vas_yarn.spark.eventlog._LONGEST_LINE", 1 << 16)
    begun = write_log(tmp_path / "log", [task(0, "ANY", 5)], '{"Event":"SparkListenerTaskEnd",')
    with begun.open("r+b") as log:
        log.truncate(32 << 20)
        log.seek(0, os.SEEK_END)
        log.write(b"\n" + json.dumps(task(0, "ANY", 7), separators=(",", ":")).encode() + b"\n")
    tracemalloc.start()
    try:
        (stage,) = read_stages(begun)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert stage.read == 12
    assert most < 8 << 20


def test_what_is_no_event_log_is_refused(tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(b"\x28\xb5\x2f\xfd compressed")
    with pytest.raises(BadInput, match="not a file that Spark wrote"):
        read_stages(tmp_path / "log")


@pytest.mark.parametrize("name", [f"{APPLICATION}.zstd", f"eventlog_v2_{APPLICATION}"])
def test_a_log_in_another_form_names_the_key(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(BadInput, match="compressed, or in several files"):
        find_event_log(tmp_path, APPLICATION)


def test_the_log_of_an_application_with_a_longer_id_is_anothers(tmp_path: Path) -> None:
    (tmp_path / f"{APPLICATION}0").touch()
    assert find_event_log(tmp_path, APPLICATION) is None


def test_the_newest_log_of_an_application(tmp_path: Path) -> None:
    assert find_event_log(tmp_path / "none", APPLICATION) is None
    for age, name in ((9, f"{APPLICATION}_1"), (5, f"{APPLICATION}_2.inprogress")):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (1e9 - age, 1e9 - age))
    (tmp_path / f"{APPLICATION}_3").symlink_to("/etc/passwd")
    found = find_event_log(tmp_path, APPLICATION)
    assert found is not None
    assert found.name.endswith("_2.inprogress")


def test_job_locality_shows_sparks_stages(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["spark", "config", "--out", str(site / "f")]) == 0
    (events,) = (site / "lustre/yarn").glob("*/.staging/spark-events")
    write_log(events / APPLICATION, [task(0, "NODE_LOCAL", 3 << 20), task(0, "ANY", 1 << 20)])
    capsys.readouterr()
    assert run_command(["job", "locality", APPLICATION]) == 0
    shown = capsys.readouterr().out
    assert "2 tasks had a place: 1 ran there; 3 MiB of 4 MiB local" in shown
    assert run_command(["job", "locality", APPLICATION, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["stages"][0]["input_bytes"] == 4 << 20
    assert told["executors"] is None


def test_json_counts_the_executors_that_started_where_stripes_are(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["spark", "config", "--out", str(site / "f")]) == 0
    (events,) = (site / "lustre/yarn").glob("*/.staging/spark-events")
    write_log(events / APPLICATION, [task(0, "NODE_LOCAL", 1)])
    (site / "placement.log").write_text(
        f"vas.placement event=grant app={APPLICATION} key=0 host=vm1 node=vm1 locality=local"
        " waited_ms=9 cause=none container=c1\n"
        f"vas.placement event=grant app={APPLICATION} key=0 host=vm1 node=vm2 locality=partner"
        " waited_ms=21000 cause=timeout container=c2\n"
    )
    capsys.readouterr()
    words = ["job", "locality", APPLICATION, "--log", str(site / "placement.log"), "--json"]
    assert run_command(words) == 0
    assert json.loads(capsys.readouterr().out)["executors"] == {
        "asked_for": 2,
        "started_there": 1,
        "elsewhere": [{"host": "vm1", "node": "vm2", "cause": "timeout", "waited_ms": 21_000}],
    }
