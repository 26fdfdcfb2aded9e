"""Jobs whose containers run one task after another, and their JVMs seen from outside the lab."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from vas_core.root import Root
from vas_lab.lab import Lab
from vas_lab.procfs import processes
from vas_tests.faults import FaultyJob
from vas_tests.leftovers import command_line

MAPS = 12
# One container on each node at a time, for maps and reducers alike.
COLD = {
    "probe.maps": str(MAPS),
    "mapreduce.map.memory.mb": "600",
    "mapreduce.reduce.memory.mb": "600",
    "yarn.app.mapreduce.am.command-opts": "-Xmx300m org.vas.app.VasAppMaster",
    "vas.containers.reuse": "off",
}
WARM = COLD | {"vas.containers.reuse": "on"}
# Containers wait until something else than the time ends them.
PATIENT = WARM | {"vas.containers.reuse.idle-time": "10m"}


def jvms(job: FaultyJob) -> Iterator[int]:
    """The JVMs of a job's tasks, as process ids outside the lab."""
    for process in processes(Root()):
        words = command_line(process.pid).split()
        if (
            words
            and words[0].endswith("/java")
            and "org.apache.hadoop.mapred.VasChild" in words
            and any(job.number in word for word in words)
        ):
            yield process.pid


def is_held(pid: int, held: int) -> bool:
    """Tells whether a process is the one that a point holds, by its id in the lab's namespace."""
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("NSpid:"))
    return str(held) in line.split()


def command(lab: Lab, name: str, *words: str) -> str:
    """Runs a program of `hadoop` by its class, without `org.apache.hadoop.`; returns its output."""
    return lab.call(["hadoop", f"org.apache.hadoop.{name}", *words]).stdout
