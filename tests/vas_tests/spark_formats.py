"""An application of Spark that writes the same rows in three formats, or reads them in four ways.

`spark-submit` runs it; it imports no VAS. Its last line is JSON.
"""

from __future__ import annotations

import json
import sys
from typing import Any

LINE = 98
"""Characters of a row, without its end."""
WAYS = ("text", "parquet", "sequence", "new-api")
_TEXT_INPUT = "org.apache.hadoop.mapreduce.lib.input.TextInputFormat"
_LONG, _TEXT = "org.apache.hadoop.io.LongWritable", "org.apache.hadoop.io.Text"


def write(spark: Any, base: str, rows: int, files: int) -> None:
    """Writes rows of 98 characters that no codec makes smaller, in so many files of each format."""
    from pyspark.sql import functions

    number = functions.col("id").cast("string")
    sums = [functions.md5(functions.concat(number, functions.lit(salt))) for salt in "abc"]
    row = functions.concat(*sums, functions.lit("ab")).alias("value")
    made = spark.range(0, rows, 1, files).select(functions.col("id"), row)
    made.select("value").write.text(f"{base}/text")
    made.select("value").write.option("compression", "uncompressed").parquet(f"{base}/parquet")
    made.rdd.map(tuple).saveAsSequenceFile(f"{base}/sequence")


def read(spark: Any, base: str, way: str) -> int:
    """Returns the number of characters of all rows."""
    context = spark.sparkContext
    if way == "sequence":
        values = context.sequenceFile(f"{base}/sequence").values()
    elif way == "new-api":
        values = context.newAPIHadoopFile(f"{base}/text", _TEXT_INPUT, _LONG, _TEXT).values()
    else:
        found = getattr(spark.read, way)(f"{base}/{way}")
        return int(found.selectExpr("sum(length(value))").first()[0])
    return int(values.map(len).sum())


def main(what: str, base: str, *numbers: str) -> None:
    """Writes, or reads in each way."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName(f"vas-{what}").getOrCreate()
    found: dict[str, int] = {}
    if what == "write":
        write(spark, base, *map(int, numbers))
    else:
        found = {way: read(spark, base, way) for way in WAYS}
    spark.stop()
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
