"""Jobs whose containers run one task after another, and their JVMs as seen from outside the lab."""

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
# Hadoop's own master. Its options are as long, so that job.xml is, which each task counts.
STOCK = COLD | {"yarn.app.mapreduce.am.command-opts": f"-Xmx300m -Dpadding={14 * 'x'}"}
WARM = COLD | {"vas.containers.reuse": "on"}
# Containers wait until something else than the time ends them.
PATIENT = WARM | {"vas.containers.reuse.idle-time": "10m"}


def jvms(job: FaultyJob) -> Iterator[int]:
    """Yields the ids, outside the lab, of the JVMs that run a job's tasks."""
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
    """Tells whether `pid` is the process that the lab's own namespace knows as `held`.

    Raises OSError if the process has ended.
    """
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("NSpid:"))
    return str(held) in line.split()


def command(lab: Lab, name: str, *words: str) -> str:
    """Runs a class below `org.apache.hadoop` by the lab's `hadoop`; returns what it printed.

    Raises CommandFailed if its status is not 0.
    """
    return lab.call(["hadoop", f"org.apache.hadoop.{name}", *words]).stdout
