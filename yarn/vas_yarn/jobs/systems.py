"""The ways of running one job that are compared: `./vas demo`, `vas bench arms`.

The arms differ in properties of the job: the same daemons, file system, data and scheduler
configuration serve all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from vas_yarn.profiles import SHUFFLE


@dataclass(frozen=True)
class Arm:
    """One way of running the job: arms differ in `properties` and `jars` only.

    Another framework than MapReduce has its `jars` on the class path besides, behind Hadoop's.
    """

    name: str
    explanation: str
    properties: Mapping[str, str]
    jars: tuple[Path, ...] = ()


_PLACEMENT_OFF = {"mapreduce.job.tags": "vas-placement-off"}
ARMS = (
    Arm(
        "YARN-Lustre",
        "the file system answers no hosts, as any shared file system does",
        {"vas.locations": "none", **_PLACEMENT_OFF},
    ),
    Arm("real hosts", "it answers each stripe's VM; YARN's scheduler as it is", _PLACEMENT_OFF),
    Arm("VAS placement", "it answers each stripe's VM, and the placement plugin waits for it", {}),
    Arm("VAS", "the same, and map output is written once to Lustre and merged from there", SHUFFLE),
)
# The arm whose times the others are held against: all that VAS adds beyond answering real hosts.
BASE = "real hosts"


def hdfs_arm(root: str, block_bytes: int) -> Arm:
    """Returns the arm of stock YARN on the HDFS whose paths begin with `root`."""
    return Arm("YARN-HDFS", "on HDFS", _PLACEMENT_OFF | hdfs_job_properties(root, block_bytes))


def hdfs_job_properties(root: str, block_bytes: int) -> dict[str, str]:
    """Returns properties that put a job on HDFS: its staging and all paths without a scheme.

    `root` is what HDFS' paths begin with, `block_bytes` the size of its blocks.

    Hadoop itself writes the job's history into the cluster's default file system.
    """
    return {
        "fs.defaultFS": root,
        "dfs.replication": "1",
        "dfs.blocksize": str(block_bytes),
        "dfs.client.read.shortcircuit": "false",
        "mapreduce.client.submit.file.replication": "1",
    }
