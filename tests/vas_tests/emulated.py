"""Settings of Hadoop for an emulated processor, on which a JVM needs minutes to start."""

from __future__ import annotations

# Emulated, a second compiler costs more than it saves, and so do wide registers.
JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -XX:UseAVX=0"
NODE_MANAGER_HEAP = f"-Xmx400m {JVM}"
CLIENT_HEAP = f"-Xmx200m {JVM}"
# Nobody is given up meanwhile.
_PATIENCE_MS = "1800000"
_CONTAINER_MIB = "384"
ROUTES = {"probe_interval_ms": 2000}
"""vas-routed's settings on both sides: the guest does not answer within the usual 20 ms."""


def properties() -> dict[str, str]:
    """Returns properties of YARN and MapReduce: small containers, time limits of half an hour."""
    found = {
        "mapreduce.task.timeout": _PATIENCE_MS,
        "yarn.am.liveness-monitor.expiry-interval-ms": _PATIENCE_MS,
        "yarn.app.mapreduce.am.resource.mb": _CONTAINER_MIB,
        "yarn.app.mapreduce.am.command-opts": CLIENT_HEAP,
        "yarn.nodemanager.pmem-check-enabled": "false",
        # Every 3 s it would take a third of a processor.
        "yarn.nodemanager.resource-monitor.interval-ms": "30000",
        "yarn.resourcemanager.rm.container-allocation.expiry-interval-ms": _PATIENCE_MS,
        "yarn.scheduler.capacity.maximum-am-resource-percent": "0.5",
        "yarn.scheduler.minimum-allocation-mb": "128",
    }
    for kind in ("map", "reduce"):
        found[f"mapreduce.{kind}.memory.mb"] = _CONTAINER_MIB
        found[f"mapreduce.{kind}.java.opts"] = CLIENT_HEAP
    return found
