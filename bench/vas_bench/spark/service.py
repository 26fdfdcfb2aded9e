"""Runs Spark's external shuffle service on each node of a lab."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from vas_core.polling import poll
from vas_lab.hadoop.configuration import jvm_flags
from vas_lab.lab import Lab
from vas_yarn.spark.installation import find_spark

_MAIN = "org.apache.spark.deploy.ExternalShuffleService"
_STARTED = "Starting shuffle service on port"
_START_SECONDS = 120.0


@contextmanager
def shuffle_services(lab: Lab) -> Iterator[None]:
    """Runs the service on each guest while the body runs: a JVM each, on its own address.

    It is the service of Spark's own clusters: the one for YARN's nodes is in no registry. Both
    serve the files of executors that told them their directories. Raises VasError if one does not
    start.
    """
    with ExitStack() as ending:
        logs = [_start(lab, guest.name, ending) for guest in lab.spec.cluster.guests()]

        def silent() -> list[str]:
            return [log.name for log in logs if _STARTED not in log.read_text(errors="replace")]

        what = f"Spark's shuffle services, whose logs are in {lab.spec.logs}"
        poll(silent, lambda left: not left, _START_SECONDS, what)
        yield


def _start(lab: Lab, node: str, ending: ExitStack) -> Path:
    log = lab.spec.logs / f"spark-service-{node}.log"
    flags = [flag for flag in jvm_flags(lab.spec) if not flag.startswith("-XX:SharedArchive")]
    # An option that bin/spark-class gives Spark's JVMs on Java 17 and later.
    flags += ["-Xmx128m", "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    # It serves files below its own directories alone: those of the node's NodeManager.
    flags.append(f"-Dspark.local.dir={lab.spec.node_dir(node)}/local")
    java = [str(lab.spec.java), *flags, "-cp", f"{find_spark().jars}/*", _MAIN]
    with log.open("wb") as out:
        process = ending.enter_context(
            subprocess.Popen(
                lab.enter(java, node=node), stdin=subprocess.DEVNULL, stdout=out, stderr=out
            )
        )
    # The program that entered the lab ends with this; the JVM with it, or at the latest with the
    # lab, whose first process it then belongs to.
    ending.callback(process.terminate)
    return log
