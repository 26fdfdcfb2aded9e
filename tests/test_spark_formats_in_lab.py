"""Where Spark's tasks read, by format: with the places of stripes and without, both allocations.

The bytes from an OST of a task's own host are those that VAS's file system counts, not those of
tasks that Spark calls near: Spark adds up all counters, so it shows the local ones a second time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from vas_bench.spark.arms import small
from vas_core.repository import REPOSITORY
from vas_core.table import print_table
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.spark_formats import LINE, WAYS
from vas_yarn.jobs.job import SUBMITTED
from vas_yarn.jobs.trees import remove_tree
from vas_yarn.spark.installation import install_spark

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(1200),
]
_HOSTS = 4
_ROWS = (128 << 20) // (LINE + 1)
_APPLICATION = Path(__file__).parent / "vas_tests/spark_formats.py"
_DYNAMIC = {
    "spark.dynamicAllocation.enabled": "true",
    "spark.dynamicAllocation.maxExecutors": str(_HOSTS),
    "spark.dynamicAllocation.initialExecutors": "1",
}
# A file is smaller than a stripe: else a task would read two, and be near one of them. The second
# brings back the counter that `vas submit --spark` leaves out.
_READING = {
    "spark.sql.files.maxPartitionBytes": str(36 << 20),
    "spark.hadoop.vas.local.counter": "true",
}
_PLACES: Mapping[str, Mapping[str, str]] = {
    "of stripes": {},
    "none": {"spark.hadoop.vas.locations": "none"},
}
_ALLOCATIONS: Mapping[str, Mapping[str, str]] = {"static": {}, "dynamic": _DYNAMIC}


@pytest.fixture(scope="module")
def own_lab() -> Iterator[Lab]:
    install_spark(print)
    options = LabOptions(state_dir=REPOSITORY / "build/lab/spark-formats", hosts=_HOSTS)
    with Lab.start(options, tied=True) as started:
        # A lab keeps what an earlier run wrote.
        remove_tree(started, "/formats")
        submit(started, {}, "write", "lustre:///formats", str(_ROWS), str(_HOSTS))
        yield started


def submit(
    lab: Lab, more: Mapping[str, str], *words: str
) -> tuple[dict[str, int], list[dict[str, Any]]]:
    """Runs the application; returns what it printed last, and its stages of several tasks."""
    properties = small(_HOSTS) | more
    conf = [word for key, value in properties.items() for word in ("--conf", f"{key}={value}")]
    ran = lab.call(["vas", "submit", "--spark", *conf, str(_APPLICATION), *words])
    application = SUBMITTED.findall(ran.stderr)[-1]
    told = lab.call(["vas", "job", "locality", application, "--json"]).stdout
    # One task alone reads a Parquet file's names of columns, a first row, or adds up all sums.
    stages = [stage for stage in json.loads(told)["stages"] if sum(stage["tasks"].values()) > 1]
    return json.loads(ran.stdout.splitlines()[-1]), stages


def size_of(lab: Lab, way: str) -> int:
    """The bytes of the files that a way reads."""
    directory = lab.spec.lustre_state / "data/formats" / ("text" if way == "new-api" else way)
    return sum(file.stat().st_size for file in directory.glob("part-*"))


Shares = Mapping[tuple[str, str, str], tuple[float, float]]
"""By allocation, places that Spark is told, and way: the tasks that Spark calls near, of all; and
the bytes from an OST of the own host, of all."""


@pytest.fixture(scope="module")
def shares(own_lab: Lab) -> Shares:
    """What each application read near, printed as a table too."""
    found, rows = {}, []
    for allocation, more in _ALLOCATIONS.items():
        for places, answer in _PLACES.items():
            told, stages = submit(
                own_lab, {**more, **_READING, **answer}, "read", "lustre:///formats"
            )
            assert told == dict.fromkeys(WAYS, LINE * _ROWS)
            assert len(stages) == len(WAYS), stages
            for way, stage in zip(WAYS, stages, strict=True):
                # Bytes from the own host are counted twice.
                local = stage["input_bytes"] / size_of(own_lab, way) - 1
                tasks = sum(stage["tasks"].values())
                near = stage["tasks"].get("NODE_LOCAL", 0)
                found[allocation, places, way] = near / tasks, local
                rows.append((allocation, places, way, tasks, near, f"{100 * local:.0f} %"))
    print_table(("ALLOCATION", "PLACES", "FORMAT", "TASKS", "NODE_LOCAL", "BYTES LOCAL"), rows)
    return found


@pytest.mark.parametrize("way", WAYS)
def test_static_executors_read_at_the_stripes(shares: Shares, way: str) -> None:
    assert min(shares["static", "of stripes", way]) >= 0.75


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("allocation", _ALLOCATIONS)
def test_without_places_spark_calls_no_task_near(shares: Shares, allocation: str, way: str) -> None:
    near, local = shares[allocation, "none", way]
    assert near == 0
    # By chance some are: what has no place is given to any executor.
    assert -0.01 < local <= 1.01


@pytest.mark.parametrize("way", WAYS)
def test_executors_that_come_and_go_are_asked_for_at_the_stripes(shares: Shares, way: str) -> None:
    assert min(shares["dynamic", "of stripes", way]) >= 0.5
