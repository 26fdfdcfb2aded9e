"""An application of Spark: makes rows of 100 bytes, sorts them, or checks what was sorted.

`sort-killing` sorts, and kills an executor as soon as the first reduce task has committed.

`spark-submit` runs this file by itself: it imports nothing of VAS. Its last line is JSON.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

ROW_BYTES = 100
# The session has no type here: VAS's own environment has no pyspark.
_PADDED = ROW_BYTES - 1 - 32  # a row is an MD5 in hex, the row's number, and a line's end


def generate(spark: Any, directory: str, rows: int, files: int) -> dict[str, Any]:
    """Writes rows in the order of their numbers; rows begin with an MD5, which has no order."""
    from pyspark.sql import functions

    number = functions.col("id").cast("string")
    row = functions.concat(functions.md5(number), functions.lpad(number, _PADDED, "0"))
    spark.range(0, rows, 1, files).select(row.alias("value")).write.text(directory)
    return {"rows": rows}


def sort(spark: Any, source: str, target: str) -> dict[str, Any]:
    """Sorts all rows; returns the seconds of reading, sorting and writing."""
    started = time.monotonic()
    spark.read.text(source).sort("value").write.text(target)
    return {"seconds": round(time.monotonic() - started, 3)}


def sort_killing(spark: Any, source: str, target: str, posix: str) -> dict[str, Any]:
    """Sorts all rows, and kills an executor meanwhile; `posix` is the path of `target`.

    Returns the seconds, and the process that was killed; None if the sort was over before.
    """
    killed: list[int] = []
    ended = threading.Event()

    def kill() -> None:
        # What Hadoop's committer has of a task that is done.
        while not ended.wait(0.05):
            if next(Path(posix).glob("_temporary/0/task_*"), None):
                killed.append(executor_of(spark.sparkContext.applicationId))
                os.kill(killed[0], signal.SIGKILL)
                return

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        found = sort(spark, source, target)
    finally:
        ended.set()
        killer.join()
    return {**found, "killed": next(iter(killed), None)}


def executor_of(application: str) -> int:
    """Returns the process of an application's first executor. Raises LookupError without one."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_text(errors="replace").split("\0")
        except OSError:
            continue
        # The shell that started the executor has all of it in one word.
        if application in words and ("--executor-id", "1") in pairwise(words):
            return int(file.parent.name)
    raise LookupError(f"{application} has no executor 1")


def check(spark: Any, directory: str) -> dict[str, Any]:
    """Returns the number of rows, a checksum of any order, and whether they are in order."""
    parts = spark.sparkContext.textFile(directory, use_unicode=False)
    found = [part for _, part in sorted(parts.mapPartitionsWithIndex(_of_part).collect())]
    ends = [part for part in found if part[1]]
    between = all(one[3] <= other[2] for one, other in pairwise(ends))
    return {
        "rows": sum(part[1] for part in found),
        "checksum": f"{sum(part[4] for part in found) % (1 << 64):016x}",
        "sorted": between and all(part[0] for part in found),
    }


def _of_part(index: int, rows: Iterator[Any]) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """A part's: whether it is in order, its rows, the first and the last, and its checksum."""
    in_order, count, total = True, 0, 0
    first = last = b""
    for row in rows:
        data = bytes(row)
        in_order = in_order and data >= last
        first = first or data
        last, count, total = data, count + 1, total + zlib.crc32(data)
    yield index, (in_order, count, first, last, total)


def main(words: list[str]) -> None:
    """Runs the function that the first word names."""
    from pyspark.sql import SparkSession

    what, *rest = words
    spark = SparkSession.builder.appName(f"vas-{what}").getOrCreate()
    if what == "generate":
        found = generate(spark, rest[0], int(rest[1]), int(rest[2]))
    elif what == "sort":
        found = sort(spark, *rest)
    elif what == "sort-killing":
        found = sort_killing(spark, *rest)
    else:
        found = check(spark, *rest)
    spark.stop()
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
