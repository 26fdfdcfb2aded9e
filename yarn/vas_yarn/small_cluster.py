"""Lists the sizes and JVM flags for a cluster whose daemons all run on one small machine.

A lab gives them to its daemons and jobs, and the plans of benchmarks vary them.
"""

from __future__ import annotations

from vas_yarn.cds.archive import EVERY_TASK

MAX_HOSTS = 64
AM_MIB = 384
AM_HEAP = "-Xmx300m"
TASK_MIB = 352
TASK_HEAP = "-Xmx288m"
# Short lives on few cores: no C2, C1 where a method runs twice as often as it would wait for, no
# parallel collector; and what every task has, on a site too.
JVM = (
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-XX:CompileThresholdScaling=2",
    *EVERY_TASK,
)
