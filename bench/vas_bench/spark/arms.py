"""Runs the same sort by Spark on the same rows, with Spark's own shuffle and with VAS's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vas_bench.spark.application import ROW_BYTES
from vas_core.errors import VasError
from vas_core.progress import Step, Steps
from vas_lab.lab import Lab
from vas_yarn.jobs.job import SUBMITTED
from vas_yarn.spark.installation import find_spark

APPLICATION = Path(__file__).with_name("application.py")
DIRECTORY = "/spark-demo"
_GENERATE = "make the rows"


@dataclass(frozen=True)
class SparkArm:
    """A way to run the sort: its name, in words, and the words that `vas submit --spark` gets."""

    name: str
    explanation: str
    words: tuple[str, ...] = ()


SPARK_ARMS = (
    SparkArm("Spark", "Spark's own shuffle: output on the executors' disks", ("--stock-shuffle",)),
    SparkArm("VAS", "map output on Lustre, read in place by any executor"),
)


@dataclass(frozen=True)
class SparkResult:
    """An arm's sort: its application, seconds, what `vas job locality` tells, and its checksum.

    `read` and `read_local`: bytes of input, and those of tasks that ran where their data was.
    """

    name: str
    application: str
    seconds: float
    tasks: Mapping[str, int]
    read: int
    read_local: int
    rows: int
    checksum: str


def small(hosts: int) -> dict[str, str]:
    """Returns Spark's properties for a lab: executors that fit its small guests, one each."""
    spark = find_spark()
    return {
        "spark.yarn.jars": f"local:{spark.jars}/*",
        "spark.yarn.am.memory": "200m",
        "spark.yarn.am.memoryOverhead": "100m",
        "spark.executor.instances": str(hosts),
        "spark.executor.memory": "480m",
        "spark.executor.memoryOverhead": "160m",
        "spark.dynamicAllocation.enabled": "false",
        "spark.locality.wait": "10s",
        "spark.sql.shuffle.partitions": str(2 * hosts),
        "spark.ui.enabled": "false",
    }


def steps(arms: Sequence[SparkArm]) -> list[Step]:
    """Returns the steps, with the seconds they take on two cores."""
    of_arms = [s for arm in arms for s in (Step(_sort(arm), 100), Step(_check(arm), 70))]
    return [Step(_GENERATE, 80), *of_arms]


def _sort(arm: SparkArm) -> str:
    return f"sort, {arm.name}"


def _check(arm: SparkArm) -> str:
    return f"check, {arm.name}"


def run_arms(
    lab: Lab, size: int, arms: Sequence[SparkArm], progress: Steps
) -> Iterator[SparkResult]:
    """Makes rows of `size` bytes, sorts them in each arm, and checks each output.

    Raises VasError when an output is not sorted, or has other rows than the first.
    """
    hosts = len(lab.spec.cluster.hosts)
    properties, rows = small(hosts), size // ROW_BYTES
    source = f"{DIRECTORY}/in"
    # A lab keeps what an earlier run wrote.
    lab.call(["rm", "-rf", lab.spec.cluster.lustre.mount + DIRECTORY])
    with progress.step(_GENERATE):
        submit(lab, properties, ("generate", source, str(rows), str(hosts)))
    expected: tuple[int, str] | None = None
    for number, arm in enumerate(arms):
        target = f"{DIRECTORY}/out-{number}"
        with progress.step(_sort(arm)):
            application, sorted_ = submit(lab, properties, ("sort", source, target), arm.words)
        with progress.step(_check(arm)):
            _, found = submit(lab, properties, ("check", target))
        got = (found["rows"], found["checksum"])
        expected = expected or (rows, got[1])
        if not found["sorted"] or got != expected:
            what = f"{arm.name}: the output is not the sorted input: {found}, not {expected}"
            raise VasError(what, where=target)
        yield _result(lab, arm, application, sorted_["seconds"], got)


def submit(
    lab: Lab,
    properties: Mapping[str, str],
    words: Sequence[str],
    options: Sequence[str] = (),
    application: Path = APPLICATION,
) -> tuple[str, dict[str, Any]]:
    """Runs an application by `vas submit --spark`; returns its id and what it printed last.

    Raises CommandFailed if it fails, VasError if it told no id.
    """
    conf = [word for key, value in properties.items() for word in ("--conf", f"{key}={value}")]
    argv = ["vas", "submit", "--spark", *options, *conf, str(application), *words]
    ran = lab.call(argv)
    ids = SUBMITTED.findall(ran.stderr)
    if not ids or not ran.stdout.strip():
        raise VasError("told no application's id", where="vas submit --spark", hint=ran.stderr)
    return ids[-1], json.loads(ran.stdout.splitlines()[-1])


def _result(
    lab: Lab, arm: SparkArm, application: str, seconds: float, checked: tuple[int, str]
) -> SparkResult:
    told = json.loads(lab.call(["vas", "job", "locality", application, "--json"]).stdout)
    inputs = [stage for stage in told["stages"] if stage["input_bytes"]]
    tasks: dict[str, int] = {}
    for stage in inputs:
        for place, count in stage["tasks"].items():
            tasks[place] = tasks.get(place, 0) + count
    return SparkResult(
        name=arm.name,
        application=application,
        seconds=seconds,
        tasks=tasks,
        read=sum(stage["input_bytes"] for stage in inputs),
        read_local=sum(stage["node_local_input_bytes"] for stage in inputs),
        rows=checked[0],
        checksum=checked[1],
    )
