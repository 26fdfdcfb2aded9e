"""The main job, three ways on the same data: what `./vas demo` runs.

The arms differ in two properties of the job, nothing else: the same daemons, file system,
data and scheduler configuration serve all three.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ROW_BYTES = 100
_MIN_SPLIT_BYTES = 16 << 20
_MAX_MAPS = 48
_STRIPE_ALIGNMENT_BYTES = 64 << 10
_INPUT = "/demo/input"

_FILE_INPUT = "org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter"
_FILE_SYSTEMS = "org.apache.hadoop.mapreduce.FileSystemCounter"
_JOB = "org.apache.hadoop.mapreduce.JobCounter"


@dataclass(frozen=True)
class Arm:
    """One way of running the job. `properties` is all that sets it apart."""

    name: str
    explanation: str
    properties: Mapping[str, str]


_PLACEMENT_OFF = {"mapreduce.job.tags": "vas-placement-off"}
ARMS = (
    Arm(
        "YARN-Lustre",
        "the file system answers no hosts, as any shared file system does",
        {"vas.locations": "none", **_PLACEMENT_OFF},
    ),
    Arm("real hosts", "it answers each stripe's VM; YARN's scheduler as it is", _PLACEMENT_OFF),
    Arm("VAS", "it answers each stripe's VM, and the placement plugin waits for it", {}),
)
