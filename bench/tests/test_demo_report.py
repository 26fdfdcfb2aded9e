"""What the demo prints and reports, of runs that were made up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from vas_bench.demo.arms import DEMO_ARMS, ArmResult, Done
from vas_bench.demo.command import check_no_demo, print_arms
from vas_bench.demo.report import write_report
from vas_bench.results.environment import environment
from vas_bench.results.store import read_results
from vas_core.errors import VasError
from vas_core.root import Root
from vas_lab.spec import LabSpec
from vas_lab.state import hold
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.terasort import TeraSortSizes

_MIB = 1 << 20


def test_the_demo_explains_its_rows_and_what_its_times_do_not_say(
    capsys: pytest.CaptureFixture[str],
) -> None:
    arm = ArmResult("VAS", 8, 0, 0, 8, 100, 100, 1.0, 2.0, "c0ffee", 7)
    print_arms([arm], DEMO_ARMS)
    table, _, text = capsys.readouterr().out.partition("\n\n")
    assert table.splitlines()[1].split()[:3] == ["VAS", "8", "7"]
    text = text.replace("\n  ", " ")
    explained = [line.partition(":")[0] for line in text.splitlines()]
    assert explained[: len(DEMO_ARMS)] == [arm.name for arm in DEMO_ARMS]
    assert "DATA-LOCAL and FROM LOCAL OST show the placement; its worth in time does not" in text


def test_a_demo_beside_the_lab_of_an_earlier_one_says_how_to_run(tmp_path: Path) -> None:
    check_no_demo(tmp_path)
    with hold(tmp_path), pytest.raises(VasError) as refused:
        check_no_demo(tmp_path)
    assert refused.value.hint == "end it by `vas lab down --name demo`, then run `vas demo` again"


def _done(seconds: float, number: int) -> Done:
    maps = {"DATA_LOCAL_MAPS": 8, "TOTAL_LAUNCHED_MAPS": 8}
    counters = {
        "org.apache.hadoop.mapreduce.JobCounter": maps,
        "of tasks": {"BYTES_READ": 128 * _MIB, "LUSTRE-LOCAL_BYTES_READ": 128 * _MIB},
    }
    job = JobResult(
        application_id="a",
        job_id="j",
        state="SUCCEEDED",
        seconds=seconds,
        client_seconds=seconds,
        wall_seconds=seconds,
        cpu_seconds=2 * seconds,
        counters=counters,
        map_counters=counters,
    )
    return Done(DEMO_ARMS[number], job, "c0ffee", datetime(2026, 1, 1, 0, 33 + number, tzinfo=UTC))


@pytest.mark.machine
def test_a_demo_leaves_results_and_a_report_of_them(tmp_path: Path) -> None:
    spec = LabSpec(
        name="demo",
        state_dir=tmp_path,
        hadoop_lib=tmp_path,
        plugin_jar=None,
        java_home=tmp_path,
        user_namespace=False,
    )
    (tmp_path / "hadoop-common-3.5.0.jar").touch()
    (tmp_path / "release").write_text('IMPLEMENTOR="x"\nJAVA_VERSION="17.0.1"\n')
    done = [_done(20.0 + number, number) for number in range(4)]
    page = write_report(
        spec, done, TeraSortSizes.of(128 * _MIB, 4), 4, "vas demo --size 128M --hosts 4"
    )
    runs = read_results(page, say=print)
    assert runs == read_results(tmp_path / "results.jsonl", say=print)
    assert [run.measures["job_seconds"] for run in runs] == [20, 21, 22, 23]
    assert all(run.measures["local_byte_share"] == 1 for run in runs)
    assert runs[0].versions["hadoop"] == "3.5.0"
    assert runs[0].versions["java"] == "17.0.1"
    text = page.read_text(encoding="utf-8")
    assert "2026-01-01 00:33 to 2026-01-01 00:36 UTC" in text
    assert "no difference is sure" in text
    assert "vas demo --size 128M --hosts 4" in text and "`" not in text.split("<h2")[0]
    assert "Data-local maps: terasort" in text
    assert all(f">{arm.name}<" in text for arm in DEMO_ARMS)
    assert "Data local maps and local byte share show the placement" in text
    assert "20 to 20<" not in text
    for measure in ("data local maps", "local byte share"):
        assert f">{measure}" in text


def test_a_machine_is_what_its_procfs_says(tmp_path: Path) -> None:
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/osrelease").write_text("6.1.0\n")
    cpu = "processor\t: {}\nmodel name\t: Made up\n\n"
    (tmp_path / "proc/cpuinfo").write_text(cpu.format(0) + cpu.format(1))
    (tmp_path / "proc/meminfo").write_text("MemTotal:       24629252 kB\nMemFree: 1 kB\n")
    found = environment(Root(tmp_path))
    assert found == {
        "kernel": "6.1.0",
        "processor": "Made up",
        "processors": 2,
        "memory_bytes": 376 * 64 * _MIB,
    }
    assert environment(Root(tmp_path / "none"))["processors"] == 0
