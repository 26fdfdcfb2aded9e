"""Spark on the lab's YARN by `vas submit --spark`, with its own shuffle and with VAS's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from vas_bench.spark.arms import (
    APPLICATION,
    DIRECTORY,
    SPARK_ARMS,
    SparkResult,
    run_arms,
    small,
    steps,
    submit,
)
from vas_bench.spark.output import row_sum
from vas_core.polling import poll
from vas_core.process import Completed
from vas_core.progress import Steps
from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests import spark_wide
from vas_tests.spark_lives import MAPS, RECORDS, REDUCERS
from vas_yarn.jobs.job import SUBMITTED
from vas_yarn.spark.installation import OF_CLONE, install_notebook, install_spark

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
]
_HOSTS = 4
_NONE: Mapping[str, str] = {}
_LIVES = Path(__file__).parent / "vas_tests/spark_lives.py"
_WIDE = Path(spark_wide.__file__)
_SUMS = [[key, sum(range(key, RECORDS, 100))] for key in range(100)]


@pytest.fixture(scope="module")
def own_lab() -> Iterator[Lab]:
    install_spark(print)
    options = LabOptions(state_dir=REPOSITORY / "build/lab/spark", hosts=_HOSTS)
    with Lab.start(options, tied=True) as started:
        yield started


@pytest.fixture(scope="module")
def sorts(own_lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> dict[str, SparkResult]:
    """Each arm's sort of 128 MiB, which is checked where it is made."""
    learned = tmp_path_factory.mktemp("spark") / "seconds.json"
    with Steps.show(steps(SPARK_ARMS), learned) as progress:
        return {arm.name: arm for arm in run_arms(own_lab, 128 << 20, SPARK_ARMS, progress)}


def staging(lab: Lab) -> Path:
    return Path(lab.spec.cluster.lustre.mount) / "yarn/staging"


def job_directories(lab: Lab) -> list[str]:
    """Returns the paths of the job directories that are below the staging directory."""
    found = lab.call(["find", str(staging(lab)), "-maxdepth", "3", "-name", "*job_*"])
    return found.stdout.split()


def lives(
    lab: Lab,
    what: str,
    *options: str,
    more: Mapping[str, str] = _NONE,
    check: bool = True,
) -> tuple[str, Completed]:
    """Runs the application that kills a part of itself; returns its id, and how it ended."""
    properties = small(_HOSTS) | more
    conf = [word for key, value in properties.items() for word in ("--conf", f"{key}={value}")]
    argv = ["vas", "submit", "--spark", *options, *conf, str(_LIVES), what]
    ran = lab.call(argv, check=check)
    return SUBMITTED.findall(ran.stderr)[-1], ran


def locality(lab: Lab, application: str) -> dict[str, Any]:
    """What `vas job locality --json` tells of an application."""
    argv = ["vas", "job", "locality", application, "--json"]
    told: dict[str, Any] = json.loads(lab.call(argv).stdout)
    return told


def attempts_of_maps(lab: Lab, application: str) -> int:
    """How many attempts the stage of maps had."""
    stages = locality(lab, application)["stages"]
    first = min(stage["stage"] for stage in stages)
    return sum(stage["stage"] == first for stage in stages)


def test_both_shuffles_sort_the_same_rows(sorts: dict[str, SparkResult]) -> None:
    stock, ours = sorts["Spark"], sorts["VAS"]
    assert (ours.rows, ours.checksum) == (stock.rows, stock.checksum)
    assert ours.rows == (128 << 20) // 100


def test_tasks_run_where_their_stripes_are(sorts: dict[str, SparkResult]) -> None:
    for arm in sorts.values():
        assert arm.read >= 128 << 20
        assert arm.read_local >= 0.75 * arm.read, arm


def test_an_application_leaves_nothing(own_lab: Lab, sorts: dict[str, SparkResult]) -> None:
    assert job_directories(own_lab) == []


def test_a_lost_executor_costs_no_map(own_lab: Lab) -> None:
    application, ran = lives(own_lab, "executor")
    assert json.loads(ran.stdout.splitlines()[-1]) == _SUMS
    assert attempts_of_maps(own_lab, application) == 1


def test_with_sparks_own_shuffle_it_costs_maps(own_lab: Lab) -> None:
    application, ran = lives(own_lab, "executor", "--stock-shuffle")
    assert json.loads(ran.stdout.splitlines()[-1]) == _SUMS
    assert attempts_of_maps(own_lab, application) > 1


def test_executors_leave_when_idle_and_their_output_stays(own_lab: Lab) -> None:
    dynamic = {"enabled": "true", "executorIdleTimeout": "5s", "maxExecutors": str(_HOSTS)}
    more = {f"spark.dynamicAllocation.{key}": value for key, value in dynamic.items()}
    application, ran = lives(own_lab, "idle", more=more)
    assert json.loads(ran.stdout.splitlines()[-1]) == _SUMS
    stages = locality(own_lab, application)["stages"]
    ran_tasks = sum(sum(stage["tasks"].values()) for stage in stages)
    assert ran_tasks == MAPS + 2 * REDUCERS, "no map ran again"


def work_of(lab: Lab, application: str) -> dict[str, int]:
    """The work for an application's first shuffle: its event log has the sum at the last stage."""
    (log,) = (lab.spec.lustre_state / "data/yarn/staging").glob(
        f"*/.staging/spark-events/{application}"
    )
    name, told = "map output on Lustre, shuffle 0", ""
    for line in log.read_text().splitlines():
        if line.startswith('{"Event":"SparkListenerStageCompleted"'):
            sums = json.loads(line)["Stage Info"]["Accumulables"]
            told = next((each["Value"] for each in sums if each["Name"] == name), told)
    return {kind: int(number) for kind, number in map(str.split, told.split(", "))}


def test_two_thousand_partitions_have_two_files_a_map_and_the_same_rows(own_lab: Lab) -> None:
    properties = small(_HOSTS) | {"spark.sql.adaptive.enabled": "false"}
    words = ("wide", own_lab.spec.cluster.lustre.mount)
    told, requests, applications = [], [], []
    for options in ((), ("--stock-shuffle",)):
        own_lab.object_requests(counting=True)
        application, found = submit(own_lab, properties, words, options, _WIDE)
        requests.append(own_lab.object_requests(counting=False))
        applications.append(application)
        told.append(found)
    (ours, stock), work = told, work_of(own_lab, applications[0])
    assert (ours["rows"], ours["checksum"]) == (stock["rows"], stock["checksum"])
    assert (ours["files"], stock["files"]) == (2 * spark_wide.MAPS, 0)
    assert work["files"] == 2 * spark_wide.MAPS
    # Each block by an open and a read of its own; an executor reads an index of others once. Its
    # tasks run one at a time.
    indexes = spark_wide.MAPS * (_HOSTS - 1)
    assert ours["blocks"] <= work["opens"] <= ours["blocks"] + indexes
    assert work["reads"] == work["opens"]
    assert work["bytesVerified"] == work["bytesWritten"]
    more = requests[0]["opens"] - requests[1]["opens"]
    assert work["opens"] <= more <= work["opens"] + 100
    assert requests[0]["reads"] - requests[1]["reads"] >= work["reads"]


def test_executors_are_asked_for_where_the_stripes_are_and_start_there(own_lab: Lab) -> None:
    hosts = own_lab.spec.cluster.hosts
    near = sorted(host.guests[0].name for host in hosts if {1, 2} & set(host.osts))
    place = Path(own_lab.spec.cluster.lustre.mount) / "near"
    make = (
        'mkdir -p "$1"; for ost in 1 2; do rm -f "$1/$ost"; lfs setstripe -S 32M -c 1 -i $ost'
        ' "$1/$ost"; yes "a line of twenty-four x" | head -c 24000000 >"$1/$ost"; done'
    )
    own_lab.call(["sh", "-uc", make, "sh", str(place)])
    dynamic = {"enabled": "true", "initialExecutors": "0", "maxExecutors": "2"}
    properties = small(_HOSTS) | {"spark.executor.instances": "0", "spark.locality.wait": "60s"}
    properties |= {f"spark.dynamicAllocation.{key}": value for key, value in dynamic.items()}
    words = ("near", str(place.parent), f"lustre:///{place.name}")
    application, told = submit(own_lab, properties, words, application=_WIDE)
    assert told == {"rows": 2_000_000, "hosts": near}
    shown = own_lab.call(["vas", "job", "locality", application]).stdout
    assert "2 executors asked for where stripes are: 2 started there\n" in shown
    places = {"asked_for": 2, "started_there": 2, "elsewhere": []}
    assert locality(own_lab, application)["executors"] == places


def test_a_driver_on_the_cluster_sorts_and_leaves_nothing(own_lab: Lab) -> None:
    rows, place = 5_000, f"{DIRECTORY}-cluster"
    own_lab.call(["rm", "-rf", own_lab.spec.cluster.lustre.mount + place])
    for words in (
        ("generate", f"{place}/in", str(rows), "2"),
        ("sort", f"{place}/in", f"{place}/out"),
    ):
        argv = ["vas", "submit", "--spark", "--deploy-mode", "cluster", "--driver-memory", "480m"]
        properties = small(_HOSTS) | {"spark.driver.memoryOverhead": "160m"}
        argv += [word for key, value in properties.items() for word in ("--conf", f"{key}={value}")]
        ran = own_lab.call([*argv, str(APPLICATION), *words])
        assert "final status: SUCCEEDED" in ran.stderr
    data = own_lab.spec.lustre_state / f"data{place}"
    made, found = row_sum(data / "in"), row_sum(data / "out")
    assert (found.rows, found.checksum, found.in_order) == (rows, made.checksum, True)
    assert job_directories(own_lab) == []


def test_what_a_killed_driver_leaves_the_janitor_removes(own_lab: Lab) -> None:
    _, ran = lives(own_lab, "driver", check=False)
    assert ran.status != 0
    (left,) = job_directories(own_lab)
    gc = ["vas", "shuffle", "gc", "--staging", str(staging(own_lab)), "--grace", "0s"]
    manager = own_lab.spec.cluster.yarn.resourcemanager.name
    gc += ["--resourcemanager", f"http://{manager}:8088", "--json"]

    def quarantined() -> bool:
        own_lab.call(gc, check=False)
        return left not in job_directories(own_lab)

    poll(quarantined, bool, 120, "YARN to end the application")
    own_lab.call(gc)
    assert job_directories(own_lab) == []


def test_the_first_notebook_runs_as_it_stands(own_lab: Lab, tmp_path: Path) -> None:
    install_notebook(print)
    kernel = own_lab.spec.temporary / "jupyter/kernels/vas-spark"
    own_lab.call(["vas", "spark", "kernel", "--out", str(kernel)])
    conf = kernel / "spark.conf"
    more = "".join(f"{key} {value}\n" for key, value in small(_HOSTS).items())
    conf.write_text(conf.read_text() + more)
    place = Path(own_lab.spec.cluster.lustre.mount) / "notebook"
    put = 'mkdir -p "$1"; for n in 1 2 3 4 5; do echo "alpha beta ant"; done >"$1/text"'
    own_lab.call(["sh", "-euc", put, "sh", str(place)])
    notebook = json.loads((REPOSITORY / "docs/notebooks/first.ipynb").read_text())
    notebook["cells"][1]["source"] = f'place = "lustre:///{place.name}"'
    (tmp_path / "first.ipynb").write_text(json.dumps(notebook))
    jupyter = str(OF_CLONE / "bin/jupyter")
    words = ("execute", "--timeout=300", str(tmp_path / "first.ipynb"), "--output", "done")
    own_lab.call(["env", f"JUPYTER_PATH={kernel.parents[1]}", jupyter, *words])
    cells = json.loads((tmp_path / "done.ipynb").read_text())["cells"]
    told = {cell["id"]: json.dumps(cell["outputs"]) for cell in cells if "outputs" in cell}
    assert '"5"' in told["cell-2"], "lines"
    assert "letter='a', count=10" in told["cell-4"]
    assert "image/png" in told["cell-5"]
    assert "had a place" in told["cell-7"]
    assert job_directories(own_lab) == []
