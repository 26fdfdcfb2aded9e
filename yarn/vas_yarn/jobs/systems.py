"""Lists the systems that are compared (stock YARN, VAS, ...), and the arms that jobs run as.

The arms of `./vas demo` and `vas bench arms` differ in properties of the job: the same daemons,
file system, data and scheduler configuration serve all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from vas_yarn.lint.rules import COLLECTOR_KEY, STOCK_COLLECTOR
from vas_yarn.profiles import NODE_SHUFFLE, SHUFFLE
from vas_yarn.small_cluster import AM_HEAP
from vas_yarn.submit.master import MASTER, OPTIONS_KEY, REUSE_KEY

System = Literal[
    "yarn-compute",
    "yarn-hdfs",
    "yarn-lustre",
    "yarn-lustre-intermediate",
    "yarn-lustre-hosts",
    "tez",
    "vas-locality",
    "vas",
    "jbs",
    "jbs-collector",
    "jbs-warm",
    "jbs-merged",
]
"""Where jobs run: what a plan may name, and a line of results names."""

# Name -> the text that a reader of a report gets, in the order in which reports show them.
SYSTEMS: dict[System, str] = {
    "yarn-compute": "as yarn-lustre-intermediate, on as many compute nodes, which serve no OST",
    "yarn-hdfs": "stock YARN on HDFS, a DataNode on every node",
    "yarn-lustre": "stock YARN on Lustre, which answers no hosts, as any shared file system",
    "yarn-lustre-intermediate": "as yarn-lustre, and the nodes' local directories are on Lustre",
    "yarn-lustre-hosts": "stock YARN on Lustre, which answers each stripe's host",
    "tez": "the same jobs on Apache Tez",
    "vas-locality": "each stripe's host is answered, and VAS's placement waits for it",
    "vas": "as vas-locality, and map output is written once to Lustre and merged from there",
    "jbs": "stock YARN on Lustre; vas-shuffled copies stock's map output from the nodes' disks",
    "jbs-collector": "as jbs, and VAS's collector writes map output, to the nodes' disks",
    "jbs-warm": "as jbs-collector, and a container runs one task after another",
    "jbs-merged": "as jbs-warm, and vas-shuffled merges on the reducer's node",
}


@dataclass(frozen=True)
class Arm:
    """One way of running the job: arms differ in `properties` and `jars` only.

    `name` stands in tables of arms. `jars` of another framework than MapReduce follow Hadoop's on
    the class path.
    """

    system: System
    name: str
    explanation: str
    properties: Mapping[str, str]
    jars: tuple[Path, ...] = ()


_PLACEMENT_OFF = {"mapreduce.job.tags": "vas-placement-off"}
ARMS = (
    Arm(
        "yarn-lustre",
        "YARN-Lustre",
        "the file system answers no hosts, as any shared file system does",
        {"vas.locations": "none", **_PLACEMENT_OFF},
    ),
    Arm(
        "yarn-lustre-hosts",
        "real hosts",
        "the file system answers each stripe's VM; YARN's scheduler as it is",
        _PLACEMENT_OFF,
    ),
    Arm(
        "vas-locality",
        "VAS placement",
        "the file system answers each stripe's VM, and the placement plugin waits for it",
        {},
    ),
    Arm(
        "vas",
        "VAS",
        "as VAS placement, and map output is written once to Lustre and merged from there",
        SHUFFLE,
    ),
)
INTERMEDIATE = Arm(
    "yarn-lustre-intermediate",
    "YARN-Lustre, intermediate",
    "as YARN-Lustre, and the nodes' local directories are on Lustre, so map output is too",
    {"vas.locations": "none", **_PLACEMENT_OFF},
)
"""The dissertation's baseline: its NodeManagers have `local-dirs` on the shared file system."""
COMPUTE = replace(
    INTERMEDIATE,
    system="yarn-compute",
    name="YARN on compute nodes",
    explanation="as YARN-Lustre, intermediate, on nodes without OSTs: every byte crosses links",
)
"""Analytics where supercomputers have it today: beside the storage servers, without disks."""
_COLLECTED = {**NODE_SHUFFLE, **_PLACEMENT_OFF}
# No task is placed, so a container that waits takes any map at once.
_WARM = {
    **_COLLECTED,
    OPTIONS_KEY: f"{AM_HEAP} {MASTER}",
    REUSE_KEY: "auto",
    "vas.containers.reuse.locality-delay": "0ms",
}
NODE_ARMS = (
    Arm(
        "jbs",
        "JBS",
        "as real hosts, and vas-shuffled copies stock's map output from the nodes' own disks",
        {**_COLLECTED, COLLECTOR_KEY: STOCK_COLLECTOR},
    ),
    Arm(
        "jbs-collector",
        "JBS, own collector",
        "as JBS, and VAS's collector writes map output, to the nodes' own disks",
        _COLLECTED,
    ),
    Arm(
        "jbs-warm",
        "JBS, warm",
        "as JBS, own collector, and a container runs one task after another",
        _WARM,
    ),
    Arm(
        "jbs-merged",
        "JBS, warm, merged",
        "as JBS, warm, and vas-shuffled merges on the reducer's node",
        {**_WARM, "vas.shuffled.delivery": "merged"},
    ),
)
"""Arms with map output on the nodes' own disks: each node runs vas-shuffled (docs/jbs.md)."""
# The arm whose times the others are held against: all that VAS adds beyond answering real hosts.
BASE = "real hosts"


def hdfs_arm(root: str, block_bytes: int) -> Arm:
    """Returns the arm of stock YARN on HDFS.

    `root` is what HDFS' paths begin with (`hdfs://HOST:PORT`), `block_bytes` the size of its
    blocks.
    """
    properties = _PLACEMENT_OFF | hdfs_job_properties(root, block_bytes)
    return Arm("yarn-hdfs", "YARN-HDFS", "on HDFS", properties)


def hdfs_job_properties(root: str, block_bytes: int) -> dict[str, str]:
    """Returns properties that put a job on HDFS: its staging and all paths without a scheme.

    `root` is what HDFS' paths begin with (`hdfs://HOST:PORT`), `block_bytes` the size of its
    blocks. The job's history stays in the cluster's default file system.
    """
    return {
        "fs.defaultFS": root,
        "dfs.replication": "1",
        "dfs.blocksize": str(block_bytes),
        "dfs.client.read.shortcircuit": "false",
        "mapreduce.client.submit.file.replication": "1",
    }
