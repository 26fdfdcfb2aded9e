"""Apache Tez in a lab: the arm that runs a MapReduce job on it."""

from __future__ import annotations

from pathlib import Path

from vas_bench.run.tez import arm_on, job_properties
from vas_core.files import write_atomically
from vas_lab.hadoop.configuration import child_arguments
from vas_lab.lab import Lab
from vas_yarn.jobs.systems import Arm

HISTORY = "/tez-history"
"""The directory of a lab in which Tez's application masters write their history."""


def tez_arm(lab: Lab, jars: tuple[Path, ...]) -> Arm:
    """Returns the lab's arm on Tez: the same JVM flags, heaps, sort buffer and container sizes."""
    arguments = lab.spec.conf / "tez-child.args"
    write_atomically(arguments, child_arguments(lab.spec, jars))
    every_jvm = f"@{arguments}"
    properties = job_properties(HISTORY) | {
        # The jars are on every node's disk already, as Hadoop's are: none is localised.
        "tez.ignore.lib.uris": "true",
        "tez.cluster.additional.classpath.prefix": ":".join(map(str, jars)),
        "yarn.app.mapreduce.am.admin-command-opts": every_jvm,
        "mapreduce.admin.map.child.java.opts": every_jvm,
        "mapreduce.admin.reduce.child.java.opts": every_jvm,
    }
    return arm_on(properties, jars)
