"""The properties of an experiment's job, and of its lab. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from vas_bench.results.systems import ARM_OF
from vas_bench.run.experiments import Experiment
from vas_bench.run.plan import Codec, JvmProfile
from vas_yarn.jobs.systems import Arm, hdfs_arm
from vas_yarn.jobs.terasort import ROW_BYTES, TeraSortSizes, job_properties
from vas_yarn.small_cluster import JVM, TASK_HEAP

Properties = Mapping[str, str]
STOCK = ARM_OF["yarn-lustre-hosts"]
"""The arm that makes the inputs, and the outputs that others are compared with."""


@dataclass(frozen=True)
class Profile:
    """The heaps, containers and compiler, as properties of a lab and of every job."""

    lab: Properties = field(default_factory=dict)
    job: Properties = field(default_factory=dict)


# The JVM takes the last of two flags that say different things.
_C2 = f"{TASK_HEAP} -XX:TieredStopAtLevel=4"
# Three containers to a guest, so that 8 maps, or 4 reducers, run at once beside the application
# master. Each arm has the sort buffer that is best for it (docs/bench-shuffle.md): stock's takes a
# 128 MiB split of TeraSort whole, 118 bytes a record, and it begins to spill at 80 % of it. VAS
# merges no runs in the map, and a smaller buffer is less memory to touch first. Reduces have the
# flags of maps, so that a container that is used again may run either.
_ROOMY = {
    "yarn.nodemanager.resource.memory-mb": str(3 * 512),
    "yarn.app.mapreduce.am.resource.mb": "512",
    "mapreduce.map.memory.mb": "512",
    "mapreduce.map.java.opts": "-Xmx400m -Xmn24m",
    "mapreduce.reduce.memory.mb": "512",
    "mapreduce.reduce.java.opts": "-Xmx400m -Xmn24m",
    "mapreduce.task.io.sort.mb": "200",
}
PROFILES: dict[JvmProfile, Profile] = {
    "lab": Profile(),
    "roomy": Profile(lab=_ROOMY),
    "c2": Profile(job={"mapreduce.map.java.opts": _C2, "mapreduce.reduce.java.opts": _C2}),
}
_COMPRESS = "mapreduce.map.output.compress"
_IO_COMPRESS = "org.apache.hadoop.io.compress"
_CODECS: dict[Codec, Properties] = {
    "none": {},
    "gzip": {_COMPRESS: "true", f"{_COMPRESS}.codec": f"{_IO_COMPRESS}.GzipCodec"},
    "lz4": {_COMPRESS: "true", f"{_COMPRESS}.codec": f"{_IO_COMPRESS}.Lz4Codec"},
}
_ON_TEZ = {"mapreduce.framework.name": "yarn-tez"}


def sizes_of(experiment: Experiment) -> TeraSortSizes:
    """Returns how its input is cut: two splits to a generated file, unless it has `files`."""
    rows = experiment.size_bytes // ROW_BYTES
    maps = -(-rows * ROW_BYTES // experiment.split_bytes)
    files = experiment.files or max(1, maps // 2)
    return TeraSortSizes(rows, experiment.split_bytes, files, experiment.reducers)


def arm_of(
    experiment: Experiment, properties: Properties, tez: Arm | None = None, hdfs: str = ""
) -> Arm:
    """Returns the arm that an experiment runs as, with `properties` added to the arm's own.

    `tez` is the arm of jobs on Tez at this place, needed if the system is tez; `hdfs` is what paths
    of HDFS begin with, needed if the data is in HDFS.
    """
    arm = tez if experiment.system == "tez" else _usual(experiment, hdfs)
    assert arm is not None, "tez needs its arm"
    return replace(arm, properties={**arm.properties, **_chosen(experiment, properties)})


def _usual(experiment: Experiment, hdfs: str = "") -> Arm:
    if experiment.in_hdfs:
        assert hdfs, "yarn-hdfs needs the root of its paths"
        return hdfs_arm(hdfs, experiment.split_bytes)
    return ARM_OF[experiment.system]


def site_configuration(
    experiment: Experiment, properties: Properties, page_cache: str, *, hdfs: str
) -> dict[str, Any]:
    """Returns an experiment's settings for its run's line, without those of the site itself.

    No path of this machine is among them. `hdfs` is the root of the site's HDFS, used or not; empty
    where it has none.
    """
    # The rest of what Tez is told are places.
    own = _ON_TEZ if experiment.system == "tez" else _usual(experiment, hdfs).properties
    told = job_properties(sizes_of(experiment)) | dict(own) | _chosen(experiment, properties)
    return {"properties": told, "page_cache": page_cache}


def configuration(
    experiment: Experiment, properties: Properties, page_cache: str, *, hdfs: str = ""
) -> dict[str, Any]:
    """Returns an experiment's settings, as `site_configuration`, and those of its lab."""
    daemons: dict[str, Any] = {"lab_daemons": ["namenode", "datanode"]} if hdfs else {}
    if experiment.is_all_on_lustre:
        daemons["local_directories"] = "on Lustre"
    lab = {"lab_properties": dict(PROFILES[experiment.jvm].lab), "jvm_flags": list(JVM)}
    return daemons | lab | site_configuration(experiment, properties, page_cache, hdfs=hdfs)


def _chosen(experiment: Experiment, properties: Properties) -> dict[str, str]:
    own = dict(experiment.system_properties) | dict(experiment.properties)
    return {**_CODECS[experiment.codec], **PROFILES[experiment.jvm].job, **properties, **own}
