"""Stock shuffle against ours on the lab's real YARN: the same bytes out, the same counters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from vas_lab.job import JobResult
from vas_lab.lab import Lab
from vas_tests.in_lab import inside
from vas_yarn.profiles import SHUFFLE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

REPOSITORY = Path(__file__).parents[1]
_GZIP = {
    "mapreduce.map.output.compress": "true",
    "mapreduce.map.output.compress.codec": "org.apache.hadoop.io.compress.GzipCodec",
}
_LZ4 = _GZIP | {"mapreduce.map.output.compress.codec": "org.apache.hadoop.io.compress.Lz4Codec"}
_ENCRYPTED = {"mapreduce.job.encrypted-intermediate-data": "true"}
_PACKED = {"vas.shuffle.layout": "packed"}
_PER_REDUCER = {"vas.shuffle.layout": "per-reducer"}
_SEVERAL_RUNS = {"mapreduce.task.io.sort.mb": "2"}
_ALIKE = {
    "mapreduce.map.speculative": "false",
    "mapreduce.reduce.speculative": "false",
    "mapreduce.job.reduce.slowstart.completedmaps": "1.0",
}

# What both shuffles must count alike, whatever the job.
_COUNTERS = (
    "MAP_INPUT_RECORDS",
    "MAP_OUTPUT_RECORDS",
    "MAP_OUTPUT_BYTES",
    "SHUFFLED_MAPS",
    "FAILED_SHUFFLE",
    "MERGED_MAP_OUTPUTS",
    "REDUCE_INPUT_GROUPS",
    "REDUCE_OUTPUT_RECORDS",
)
# And these, where a map sorts all it has at once: stock merges its runs, we leave that to reducers.
_COUNTERS_OF_ONE_RUN = ("COMBINE_INPUT_RECORDS", "COMBINE_OUTPUT_RECORDS", "REDUCE_INPUT_RECORDS")
# And these besides, where nothing is compressed: how well it is depends on the order of equal keys,
# which stock leaves to chance.
_COUNTERS_OF_PLAIN_BYTES = ("MAP_OUTPUT_MATERIALIZED_BYTES", "REDUCE_SHUFFLE_BYTES")


@dataclass(frozen=True)
class Case:
    """A job in both shuffles. `ours` are properties that only ours knows."""

    name: str
    program: tuple[str, ...]
    properties: Mapping[str, str] = field(default_factory=dict)
    ours: Mapping[str, str] = field(default_factory=dict)


def probe(name: str, shape: str, *properties: Mapping[str, str]) -> Case:
    """A probe job; `shape` is `key=value` words without the `probe.`."""
    conf = {f"probe.{key}": value for key, value in (word.split("=") for word in shape.split())}
    every = [conf, {"mapreduce.job.reduces": "4"}, *properties]
    merged = {key: value for part in every for key, value in part.items()}
    ours = {key: merged.pop(key) for key in list(merged) if key.startswith("vas.shuffle.")}
    jar = REPOSITORY / "yarn-plugins" / "workloads" / "target" / "vas-workloads-0.1.0.jar"
    return Case(name, (str(jar), "org.vas.workloads.probe.Probe"), merged, ours)


_FEW = {"mapreduce.job.reduces": "1"}
_MANY = {"mapreduce.job.reduces": "40"}
CASES = (
    probe("plain", "", _PACKED),
    probe("one reducer, old API", "old-api=true", _FEW, _PER_REDUCER),
    probe("many reducers, most empty", "keys=6 every-nth-map-is-empty=2", _MANY, _PER_REDUCER),
    probe("nothing at all", "records=0", _GZIP),
    probe("several runs", "records=100000", _SEVERAL_RUNS, _LZ4, _PACKED),
    probe("comparators of its own", "grouped=true keys=100000", _ENCRYPTED, _PER_REDUCER),
    probe("the same, old API", "grouped=true old-api=true", _SEVERAL_RUNS, _GZIP, _PACKED),
    probe("skew", "skew-percent=90 records=50000", _ENCRYPTED, _LZ4),
    probe("equal keys", "keys=1 records=100000 maps=2", _SEVERAL_RUNS, _PACKED),
    probe("a 40 MB record", "records=1 maps=1 value-bytes=40m", _FEW, _PER_REDUCER),
    probe("combiner", "combine=true keys=500", _GZIP, _ENCRYPTED),
    probe(
        "combiner, several runs, old API",
        "combine=true old-api=true records=100000",
        _SEVERAL_RUNS,
        _PER_REDUCER,
    ),
)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_same_output_and_counters(lab: Lab, case: Case) -> None:
    stock = run(lab, case, "stock", {})
    ours = run(lab, case, "ours", SHUFFLE | dict(case.ours))
    expected = digests(lab, "stock")
    assert len(expected) == int(case.properties["mapreduce.job.reduces"])
    assert digests(lab, "ours") == expected
    assert counted(ours, case) == counted(stock, case)
    assert left_behind(lab, ours) == []


def run(lab: Lab, case: Case, name: str, properties: Mapping[str, str]) -> JobResult:
    """The job of a case, into an output directory named after the shuffle."""
    lab.call(["rm", "-rf", str(inside(lab, "shuffle", name))])
    conf = _ALIKE | dict(case.properties) | dict(properties)
    return lab.run_job([*case.program, f"/shuffle/{name}"], conf)


def digests(lab: Lab, name: str) -> dict[str, str]:
    """Output file -> its SHA-256."""
    output = str(inside(lab, "shuffle", name))
    sums = lab.call(["find", output, "-name", "part-*", "-exec", "sha256sum", "{}", "+"]).stdout
    return {Path(path).name: digest for digest, path in map(str.split, sums.splitlines())}


def counted(job: JobResult, case: Case) -> dict[str, int]:
    """The counters that have to agree."""
    names = list(_COUNTERS)
    if "mapreduce.task.io.sort.mb" not in case.properties:
        names += _COUNTERS_OF_ONE_RUN
        if "mapreduce.map.output.compress" not in case.properties:
            names += _COUNTERS_OF_PLAIN_BYTES
    return {name: job.counter(name) for name in names}


def left_behind(lab: Lab, job: JobResult) -> list[str]:
    """What is still in the job's staging directory."""
    staging = str(inside(lab, "yarn", "staging"))
    found = lab.call(["find", staging, "-path", f"*/.staging/{job.job_id}*"])
    return found.stdout.splitlines()
