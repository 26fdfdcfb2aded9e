"""An application of Spark that kills a part of itself. `spark-submit` runs it; it imports no VAS.

`executor`: the first reduce task that starts kills the executor it runs in.
`driver`: the driver's JVM is killed when the maps have run.
`idle`: all executors have left before what the maps wrote is read once more.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAPS, REDUCERS, RECORDS = 8, 4, 20_000


def kill_executor_once(groups: Iterator[Any]) -> Iterator[tuple[int, int]]:
    """Passes on each key's sum; the first reduce task that starts kills its executor."""
    from pyspark import TaskContext

    # The application's tasks are counted through: this is the first one after the maps.
    if TaskContext.get().taskAttemptId() == MAPS:
        # This process is a worker of Python's daemon, which is the executor's child.
        status = Path(f"/proc/{os.getppid()}/status").read_text()
        executor = next(line.split()[1] for line in status.splitlines() if line[:5] == "PPid:")
        os.kill(int(executor), signal.SIGKILL)
    for key, values in groups:
        yield key, sum(values)


def wait_for_no_executor(spark: Any) -> None:
    """Waits until the driver is alone. Raises TimeoutError after two minutes."""
    end = time.monotonic() + 120
    while spark.sparkContext._jsc.sc().getExecutorMemoryStatus().size() > 1:
        if time.monotonic() > end:
            raise TimeoutError("an executor has stayed")
        time.sleep(0.5)


def main(what: str) -> None:
    """Sums values by key, with a kill in the middle."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName(f"vas-{what}").getOrCreate()
    pairs = spark.sparkContext.parallelize(range(RECORDS), MAPS).map(lambda n: (n % 100, n))
    groups = pairs.groupByKey(REDUCERS)
    if what == "driver":
        groups.count()
        os.kill(spark._jvm.java.lang.ProcessHandle.current().pid(), signal.SIGKILL)
    if what == "idle":
        groups.count()
        wait_for_no_executor(spark)
        sums = groups.mapValues(sum).collect()
    else:
        sums = groups.mapPartitions(kill_executor_once).collect()
    spark.stop()
    print(json.dumps(sorted(sums)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
