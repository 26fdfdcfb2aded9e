"""An application of Spark with many partitions, or with few hosts. It imports no VAS.

`wide MOUNT`: four maps write 2,000 partitions, of which most have a few rows.
`near MOUNT DIRECTORY`: two tasks, each on an executor of its own, count the rows of two files.

`spark-submit` runs it; its last line is JSON.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MAPS, PARTITIONS, ROWS = 4, 2_000, 10_000


def wide(spark: Any, mount: str) -> dict[str, Any]:
    """Returns the checksum of all rows and their partitions, and what was counted.

    `blocks`: parts of a map's output that have a row; `files`: of map output on Lustre.
    """
    parts = spark.range(0, ROWS, 1, MAPS).repartition(PARTITIONS, "id")
    found = sorted(map(tuple, parts.selectExpr("spark_partition_id()", "id").collect()))
    number = spark.sparkContext.applicationId.partition("_")[2]
    files = Path(mount).glob(f"yarn/staging/*/.staging/job_{number}/shuffle/*/shuffle_*/map_*")
    return {
        "rows": len(found),
        "checksum": zlib.crc32(repr(found).encode()),
        "blocks": len({(row * MAPS // ROWS, part) for part, row in found}),
        "files": len(list(files)),
    }


def near(spark: Any, mount: str, directory: str) -> dict[str, Any]:
    """Returns the rows of a directory's two files, and the hosts that had an executor.

    A task ends only when there are two executors: so one alone cannot run both tasks.
    """
    marker = Path(mount) / f"{spark.sparkContext.applicationId}.two"
    registered = spark.sparkContext._jsc.sc().getExecutorMemoryStatus

    def count(rows: Iterator[str]) -> Iterator[tuple[str, int]]:
        number = sum(1 for _ in rows)
        while not marker.exists():
            time.sleep(0.2)
        yield os.environ["NM_HOST"], number

    def mark() -> None:
        # The driver is one of them.
        end = time.monotonic() + 240
        while registered().size() < 3 and time.monotonic() < end:
            time.sleep(0.5)
        marker.touch()

    marking = threading.Thread(target=mark)
    marking.start()
    found = spark.sparkContext.textFile(directory, 2).mapPartitions(count).collect()
    marking.join()
    marker.unlink()
    return {"rows": sum(n for _, n in found), "hosts": sorted(host for host, _ in found)}


def main(what: str, *words: str) -> None:
    """Runs one of them, named by the first word."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName(f"vas-{what}").getOrCreate()
    found = (wide if what == "wide" else near)(spark, *words)
    spark.stop()
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
