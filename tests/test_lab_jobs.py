"""What a lab's jobs leave, need and say: `vas lab run`, and a job that fails."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from vas_core.errors import VasError
from vas_core.root import Root
from vas_lab.control import ControlRequest
from vas_lab.lab import Lab
from vas_lab.procfs import processes
from vas_tests.in_lab import VAS, inside, labs_in, vas_lab
from vas_yarn.jobs.job import JobResult

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.mark.long
def test_a_labs_job_is_asked_for_in_its_shell(lab: Lab) -> None:
    job = lab.run_job(["pi", "2", "10"])
    asked = vas_lab(lab, "shell", "--", "vas", "job", "locality", job.application_id, "--json")
    assert len(json.loads(asked.stdout)) == 2, asked.stderr


@pytest.mark.parametrize(
    "program",
    [
        pytest.param("wordcount", marks=pytest.mark.long),
        pytest.param("terasort", marks=[pytest.mark.long, pytest.mark.nightly]),
    ],
)
def test_a_program_without_input_gets_one_with_several_stripes(lab: Lab, program: str) -> None:
    ran = vas_lab(lab, "run", "--json", "--size", "32M", program)
    jobs = [JobResult.model_validate(job) for job in json.loads(ran.stdout)]
    assert jobs[1].total_maps >= 8
    assert jobs[1].data_local_maps >= 6


@pytest.mark.long
def test_distcp_copies_by_the_labs_hadoop(lab: Lab) -> None:
    place = inside(lab, "distcp")
    lab.call(["rm", "-rf", str(place)])
    lab.call(["mkdir", "-p", str(place / "in")])
    for name in ("hosts", "passwd"):
        lab.call(["cp", f"/etc/{name}", str(place / "in" / name)])
    words = ("hadoop", "distcp", "lustre:///distcp/in", "lustre:///distcp/out")
    done = vas_lab(lab, "shell", "--", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    compared = lab.call(["diff", "-r", str(place / "in"), str(place / "out")], check=False)
    assert compared.status == 0, compared.stdout


@pytest.mark.long
def test_secondarysort_groups_its_made_up_pairs(lab: Lab) -> None:
    ran = vas_lab(lab, "run", "--json", "--size", "64K", "secondarysort")
    (job,) = [JobResult.model_validate(job) for job in json.loads(ran.stdout)]
    assert job.state == "SUCCEEDED", ran.stderr
    made = inside(lab, "lab-run/secondarysort")
    pairs = lab.call(["cat", str(made / "in/pairs")]).stdout.splitlines()
    sorted_ = lab.call(["sh", "-c", f"cat {made}/out/part-r-*"]).stdout.splitlines()
    assert len(pairs) == (64 << 10) // 14 == job.counter("MAP_INPUT_RECORDS")
    assert [line.replace("\t", " ") for line in sorted_ if "\t" in line] == pairs


@pytest.mark.long
def test_dfsio_writes_and_reads_its_files(lab: Lab) -> None:
    ran = vas_lab(lab, "run", "--json", "--size", "8M", "dfsio")
    write, read = (JobResult.model_validate(job) for job in json.loads(ran.stdout))
    assert (write.state, read.state) == ("SUCCEEDED", "SUCCEEDED"), ran.stderr
    data = inside(lab, "lab-run/dfsio/io_data")
    sizes = lab.call(["sh", "-c", f"stat -c %s {data}/*"]).stdout.split()
    assert sizes == [str(2 << 20)] * 4
    report = (lab.spec.logs / "TestDFSIO.txt").read_text()
    assert [line.split(": ")[1] for line in report.splitlines() if "MBytes proc" in line] == [
        "8"
    ] * 2


def test_a_jar_runs_with_its_arguments(lab: Lab) -> None:
    (jar,) = lab.spec.hadoop_lib.glob("hadoop-mapreduce-examples-*.jar")
    text = inside(lab, "jar-run")
    lab.call(["sh", "-euc", 'rm -rf "$1"; mkdir "$1"; echo a b a >"$1/in"', "sh", str(text)])
    ran = vas_lab(lab, "run", "--json", str(jar), "wordcount", "/jar-run/in", "/jar-run/out")
    (job,) = json.loads(ran.stdout)
    assert job["state"] == "SUCCEEDED", ran.stderr
    assert lab.call(["cat", str(text / "out/part-r-00000")]).stdout == "a\t2\nb\t1\n"


def pss_bytes(lab: Lab) -> int:
    """The proportional set sizes of all processes in the lab's PID namespace."""
    theirs = os.readlink(f"/proc/{lab.running.supervisor}/ns/pid")
    total = 0
    for process in processes(Root()):
        try:
            if os.readlink(f"/proc/{process.pid}/ns/pid") == theirs:
                rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
                total += 1024 * int(rollup.partition("\nPss:")[2].split()[0])
        except (OSError, IndexError):
            continue  # it has just ended
    return total


@pytest.mark.nightly
@pytest.mark.long
def test_a_full_lab_stays_below_six_gigabytes(lab: Lab) -> None:
    idle = pss_bytes(lab)
    samples = []
    name = ["--name", lab.spec.name]
    run = subprocess.Popen(
        [*VAS, "lab", "run", *name, "-D", "mapreduce.job.reduces=4", "--size", "256M", "terasort"],
        env=labs_in(lab.spec.state_dir.parent),
        stderr=subprocess.DEVNULL,
    )
    while run.returncode is None:
        samples.append(pss_bytes(lab))
        with suppress(subprocess.TimeoutExpired):
            run.wait(0.5)
    assert run.returncode == 0
    # More than the daemons and one container, so that the samples are of jobs.
    assert idle + 500_000_000 < max(samples) < 6_000_000_000


def test_a_failing_job_says_why_in_its_error(lab: Lab) -> None:
    with pytest.raises(VasError, match=r"(?s)Input path does not exist.*whole output is"):
        lab.run_job(["wordcount", "/no/such/input", "/never"])


@pytest.mark.long
def test_cpu_seconds_are_those_of_the_whole_lab(lab: Lab) -> None:
    before = lab.ask(ControlRequest(ask="status")).cpu_seconds
    job = lab.run_job(["pi", "1", "10"])
    after = lab.ask(ControlRequest(ask="status")).cpu_seconds
    # More than the tasks count themselves, as they leave their JVM's start out.
    assert job.counter("CPU_MILLISECONDS") / 1000 < job.cpu_seconds
    assert before > 0 and after > before
