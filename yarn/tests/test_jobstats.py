"""`vas job io`: texts of servers of Lustre 2.15 and 2.16, and names that a stranger chose."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from vas_core.cli import run_command
from vas_core.errors import ExitStatus
from vas_core.process import run
from vas_core.root import Root
from vas_yarn.jobstats import command
from vas_yarn.jobstats.counts import ApplicationIo, OmissionReason, busiest, parse
from vas_yarn.jobstats.metrics import write_metrics
from vas_yarn.jobstats.server import read_targets

TEXTS = Path(__file__).parent / "job_stats"
OST, MDT = "scratch-OST0003", "scratch-MDT0000"
FIRST, SECOND = "app_1700000000000_0001", "app_1700000000000_0002"
OLD, NEW = (TEXTS / "ost-2.15.txt").read_bytes(), (TEXTS / "ost-2.16.txt").read_bytes()
_MIB = 1 << 20


def entry(job: bytes, read_bytes: int = 1, reads: int = 1) -> bytes:
    counts = b"samples: %d, unit: bytes, min: 0, max: 1, sum: %d" % (reads, read_bytes)
    return b"- job_id:          %s\n  read_bytes:      { %s }\n" % (job, counts)


@pytest.fixture
def server(tmp_path: Path) -> Root:
    """The tree of a server that serves an OST and an MDT."""
    for kind, target, name in (("obdfilter", OST, "ost-2.16"), ("mdt", MDT, "mdt-2.16")):
        directory = tmp_path / "proc/fs/lustre" / kind / target
        directory.mkdir(parents=True)
        (directory / "job_stats").write_bytes((TEXTS / f"{name}.txt").read_bytes())
    return Root(tmp_path)


def series(file: Path) -> dict[tuple[str, ...], float]:
    """Every series of a file, as Prometheus' parser finds them: its name, its labels by name."""
    families = text_string_to_metric_families(file.read_text())
    rows = [sample for family in families for sample in family.samples]
    found = {(row.name, *row.labels.values()): row.value for row in rows}
    assert len(found) == len(rows)
    return found


def test_a_server_of_2_15() -> None:
    found = parse(OST, OLD)
    assert found.rows == (
        ApplicationIo(FIRST, OST, 4096 * 4 * _MIB, 40 * _MIB, 4096, 10, 3),
        ApplicationIo(SECOND, OST, 0, 512 * _MIB, 0, 512, 4),
    )
    assert found.left_out == {OmissionReason.OTHER_NAME: 2}


def test_a_server_of_2_16() -> None:
    found = parse(OST, NEW)
    assert found.rows == (
        ApplicationIo(FIRST, OST, 512 * _MIB, 40 * _MIB, 128, 10, 2),
        ApplicationIo(SECOND, OST, 0, 2 * _MIB, 0, 2, 0),
    )
    assert found.left_out == {OmissionReason.OTHER_NAME: 2}


def test_an_mdt_s_requests() -> None:
    found = parse(MDT, (TEXTS / "mdt-2.16.txt").read_bytes())
    assert found.rows == (ApplicationIo(FIRST, MDT, 0, 0, 0, 0, 88),)


def test_a_target_without_jobs() -> None:
    assert parse(OST, b"job_stats:\n").rows == parse(OST, b"").rows == ()


@pytest.mark.parametrize(
    "name",
    [
        b"",
        b"app_1_",
        b"app_1_2 ",
        b"APP_1_2",
        b'"app_1_2"',
        b'app_1_2"} 1',
        b"app_1_2\\n",
        b"app_1_2\r",
        b"app_1_2\x0b- job_id:  app_1_3",
        b"app_1_2\xe2\x80\xa8",
        b"app_\xd9\xa1_2",
        b"\xff\xfe",
        b"app_%s_2" % (b"1" * 20),
        b"app_1_%s" % (b"2" * 11),
        b"container_e17_1700000000000_004",
        b"app_1_2 }, sum: 7",
    ],
)
def test_a_name_that_is_not_an_application_s_is_counted_alone(name: bytes, tmp_path: Path) -> None:
    found = parse(OST, b"job_stats:\n" + entry(name))
    assert (found.rows, found.left_out) == ((), {OmissionReason.OTHER_NAME: 1})
    write_metrics(tmp_path / "jobs.prom", [found], 0.0)
    assert not [key for key in series(tmp_path / "jobs.prom") if key[0].startswith("lustre")]


@pytest.mark.parametrize(
    "text",
    [
        b"- job_id: app_1_2\n",
        b"- job_id: app_1_2\n  read_bytes: { samples: 1, unit: bytes }\n",
        b"- job_id: app_1_2\n  read_bytes: { samples: -1, unit: bytes, sum: 1 }\n",
        b"- job_id: app_1_2\n  read_bytes: { samples: 1, sumsq: 5 }\n",
        b"- job_id: app_1_2\n  read_bytes: { samples: 1, sum: %s }\n" % (b"9" * 21),
        b"- job_id: app_1_2\nread_bytes: { samples: 1, sum: 1 }\n",
    ],
)
def test_an_application_without_counts_is_damaged(text: bytes) -> None:
    found = parse(OST, text)
    assert (found.rows, found.left_out) == ((), {OmissionReason.DAMAGED: 1})


def test_an_application_named_twice_is_one_series() -> None:
    """A node exporter that reads one series twice refuses all of its files."""
    found = parse(OST, entry(b"app_1_2", 5) + entry(b"app_1_2", 7))
    assert [row.read_bytes for row in found.rows] == [5]
    assert found.left_out == {OmissionReason.DAMAGED: 1}


def test_a_flood_of_names_leaves_the_busiest() -> None:
    names = [entry(b"app_1_%d" % number, read_bytes=number) for number in range(3000)]
    near, far = busiest([parse(OST, b"".join(names)), parse(MDT, entry(b"app_1_7", 10**9))])
    assert [row.jobid for row in near.rows] == [
        "app_1_7",
        *(f"app_1_{number}" for number in range(2901, 3000)),
    ]
    assert near.left_out == {OmissionReason.NOT_BUSIEST: 2900}
    assert [row.jobid for row in far.rows] == ["app_1_7"]
    assert not +far.left_out


def test_a_list_that_is_too_long_is_cut_before_its_last_job(server: Root) -> None:
    whole = len(NEW)
    for most_bytes in (whole - 1, whole - 200, len(NEW.partition(SECOND.encode())[0]) + 40):
        (target, _) = read_targets(server, most_bytes)
        assert [row.jobid for row in target.rows] == [FIRST]
        assert target.left_out[OmissionReason.CUT] == 1
    (target, _) = read_targets(server, whole)
    assert [row.jobid for row in target.rows] == [FIRST, SECOND]
    assert target.left_out[OmissionReason.CUT] == 0


def test_a_list_that_is_gone_keeps_no_other_from_being_read(server: Root) -> None:
    (server.path(f"proc/fs/lustre/obdfilter/{OST}/job_stats")).unlink()
    server.path("proc/fs/lustre/obdfilter/num_refs").write_text("4\n")
    ost, mdt = read_targets(server)
    assert (ost.rows, ost.left_out) == ((), {OmissionReason.UNREADABLE: 1})
    assert [row.jobid for row in mdt.rows] == [FIRST]


def test_prometheus_reads_the_file(server: Root, tmp_path: Path) -> None:
    file = tmp_path / "jobs.prom"
    write_metrics(file, read_targets(server), 17.0)
    found = series(file)
    assert found["lustre_job_read_bytes_total", "ost", FIRST, OST] == 512 * _MIB
    assert found["lustre_job_write_bytes_total", "ost", SECOND, OST] == 2 * _MIB
    assert found["lustre_job_stats_total", "ost", FIRST, "read", OST] == 128
    assert found["lustre_job_stats_total", "mdt", FIRST, "other", MDT] == 88
    assert found["vas_jobstats_left_out", "other-name", OST] == 2
    assert found["vas_jobstats_left_out", "cut", MDT] == 0
    assert found[("vas_jobstats_last_read_seconds",)] == 17.0
    # A node exporter is another user; and a time of a counter's creation is a series for nothing.
    assert file.stat().st_mode & 0o777 == 0o644
    assert "_created" not in file.read_text()


@pytest.mark.machine
@pytest.mark.skipif(shutil.which("promtool") is None, reason="not installed: promtool")
def test_promtool_reads_the_file(server: Root, tmp_path: Path) -> None:
    write_metrics(tmp_path / "jobs.prom", read_targets(server), 17.0)
    said = run(["promtool", "check", "metrics"], stdin=(tmp_path / "jobs.prom").read_text())
    assert said.stdout + said.stderr == ""


@pytest.fixture
def here(server: Root, monkeypatch: pytest.MonkeyPatch) -> Root:
    monkeypatch.setattr(command, "_ROOT", server)
    return server


def test_the_table_answers_who_writes_to_an_ost(
    here: Root, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["job", "io"]) == ExitStatus.DONE
    said = capsys.readouterr()
    rows = [line.split() for line in said.out.splitlines()]
    assert rows[0] == ["TARGET", "APPLICATION", "READ", "WRITTEN", "REQUESTS"]
    application = FIRST.replace("app_", "application_")
    assert rows[2] == [OST, application, "512", "MiB", "40", "MiB", "140"]
    assert said.err == "not shown: 3 other-name (docs/jobstats.md)\n"
    assert run_command(["job", "io", "--json"]) == ExitStatus.DONE
    mdt, ost = sorted(json.loads(capsys.readouterr().out), key=lambda each: each["target"])
    assert mdt["applications"][0]["others"] == 88
    assert ost["left_out"] == {"other-name": 2}


def test_a_machine_that_serves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "_ROOT", Root(tmp_path))
    assert run_command(["job", "io"]) == ExitStatus.SKIPPED
    assert "serves no target of Lustre" in capsys.readouterr().err
    file = tmp_path / "jobs.prom"
    assert run_command(["job", "io", "--metrics", str(file)]) == ExitStatus.DONE
    assert list(series(file)) == [("vas_jobstats_last_read_seconds",)]


@pytest.mark.parametrize("words", [["--every", "30s"], ["--json", "--metrics", "x.prom"]])
def test_options_that_contradict(here: Root, words: list[str]) -> None:
    assert run_command(["job", "io", *words]) == ExitStatus.BAD_INPUT


def test_the_service_reads_again_and_again(
    here: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, slept = tmp_path / "jobs.prom", Counter[float]()

    def sleep(seconds: float) -> None:
        slept[seconds] += 1
        assert series(file)["lustre_job_read_bytes_total", "ost", FIRST, OST] == 512 * _MIB
        file.unlink()
        if slept[seconds] == 3:
            raise SystemExit(0)

    monkeypatch.setattr(time, "sleep", sleep)
    with pytest.raises(SystemExit):
        run_command(["job", "io", "--metrics", str(file), "--every", "30s"])
    assert slept == {30: 3}
