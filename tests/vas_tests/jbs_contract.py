"""Jobs on the nodes' own disks against stock's: their ways, their output and their counters."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial

from vas_core.repository import REPOSITORY
from vas_lab.lab import Lab
from vas_lab.options import LabOptions
from vas_tests.covering import Row
from vas_tests.shuffle_counters import assert_copied_alike, assert_merged_alike
from vas_tests.shuffle_runs import at_once, digests, run
from vas_tests.shuffled import WITH_DAEMON
from vas_yarn.jobs.job import JobResult
from vas_yarn.profiles import NODE_SHUFFLE

_CONSUMER = "mapreduce.job.reduce.shuffle.consumer.plugin.class"
WAYS: Mapping[str, Mapping[str, str]] = {
    "copied": {_CONSUMER: NODE_SHUFFLE[_CONSUMER]},
    "merged": {**NODE_SHUFFLE, "vas.shuffled.delivery": "merged"},
}
"""Stock's map side with segments of the daemon; VAS's collector with merges by the daemon.

The daemon gives segments where it cannot merge: a comparator or a key of the job's own, encryption.
"""


def contract_lab(name: str) -> AbstractContextManager[Lab]:
    """Starts a lab of this name whose four NodeManagers run the daemon; it ends with the body."""
    state = REPOSITORY / "build" / "lab" / name
    return Lab.start(LabOptions(state_dir=state, hosts=4, properties=WITH_DAEMON), tied=True)


def here(row: Row) -> Row:
    """A row without the layout of files on Lustre."""
    return {column: value for column, value in row.items() if column != "layout"}


def is_merged(row: Row) -> bool:
    """Tells whether the daemon can merge a row's job."""
    own = row.get("order") == "own" or row.get("program") == "secondarysort"
    return not own and row["encryption"] == "plain" and row.get("data") != "none"


def compare(
    lab: Lab, program: tuple[str, ...], conf: Mapping[str, str]
) -> tuple[JobResult, dict[str, JobResult]]:
    """Runs a program by stock's shuffle and in each way; asserts that their files are equal.

    Returns stock's run, and ours by way.
    """
    stock, *every = at_once(
        partial(run, lab, program, "stock", conf),
        *(partial(run, lab, program, name, {**conf, **way}) for name, way in WAYS.items()),
    )
    expected = digests(lab, "stock")
    assert expected
    for name in WAYS:
        assert digests(lab, name) == expected, name
    return stock, dict(zip(WAYS, every, strict=True))


def assert_alike(row: Row, stock: JobResult, ways: Mapping[str, JobResult]) -> None:
    """Asserts that each way has the counters that docs/shuffle.md promises, and who merged."""
    assert_copied_alike(stock, ways["copied"])
    assert_merged_alike(stock, ways["merged"], same_format=row["codec"] == "none")
    assert (ways["merged"].counter("SEGMENTS_MERGED_BY_DAEMON") > 0) == is_merged(row)
    assert ways["copied"].counter("SEGMENTS_MERGED_BY_DAEMON") == 0
