"""An application of Spark: tables like those of a shop, and six queries on them.

`spark-submit` runs this file by itself: it imports nothing of VAS. Its last line is JSON.
All values are integers or text, so that a query's rows do not depend on the order of sums.
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from typing import Any

# The session has no type here: VAS's own environment has no pyspark.
QUERIES = {
    "scan and aggregate": """
        SELECT flag, status, count(*), sum(quantity), sum(price), sum(price * (100 - discount))
        FROM lines WHERE day <= 2400 GROUP BY flag, status""",
    "join of three": """
        SELECT segment, count(*), sum(price * (100 - discount))
        FROM customers JOIN orders USING (customer) JOIN lines USING (number)
        WHERE ordered BETWEEN 400 AND 1600 GROUP BY segment""",
    "skewed join": """
        SELECT brand, count(*), sum(quantity * cost), sum(price)
        FROM lines JOIN parts USING (part) GROUP BY brand""",
    "distinct count": """
        SELECT ordered DIV 30, count(DISTINCT customer), count(DISTINCT clerk)
        FROM orders GROUP BY ordered DIV 30""",
    "window": """
        SELECT place, count(*), sum(total) FROM (
            SELECT total, row_number() OVER (
                PARTITION BY customer ORDER BY total DESC, number) AS place FROM orders)
        WHERE place <= 3 GROUP BY place""",
    "top 100": """
        SELECT number, sum(price * (100 - discount)) AS revenue
        FROM lines GROUP BY number ORDER BY revenue DESC, number LIMIT 100""",
}
# Lines of 100 that are of the one part that many want.
_HOT = 30


def hashed(salt: int, below: int) -> str:
    """Returns SQL for a number below `below` that follows from a row's `id`."""
    return f"CAST(pmod(xxhash64(id, {salt}), {below}) AS BIGINT)"


def tables(rows: int) -> dict[str, tuple[int, dict[str, str]]]:
    """Returns each table's number of rows, and SQL for each of its columns; `lines` has `rows`."""
    orders, customers, parts = rows // 4, max(1, rows // 40), max(1, rows // 30)
    part = f"IF({hashed(1, 100)} < {_HOT}, 0, {hashed(2, parts)})"
    lines = {
        "number": "id DIV 4",
        "part": part,
        "quantity": hashed(3, 50),
        "price": hashed(4, 100_000),
        "discount": hashed(5, 11),
        "flag": hashed(6, 3),
        "status": hashed(7, 2),
        "day": hashed(8, 2500),
        "comment": "md5(CAST(id AS STRING))",
    }
    bought = {
        "number": "id",
        "customer": hashed(9, customers),
        "clerk": hashed(10, 1000),
        "ordered": hashed(11, 2500),
        "total": hashed(12, 500_000),
    }
    return {
        "lines": (rows, lines),
        "orders": (orders, bought),
        "customers": (customers, {"customer": "id", "segment": hashed(13, 5)}),
        "parts": (parts, {"part": "id", "brand": hashed(14, 25), "cost": hashed(15, 1000)}),
    }


def generate(spark: Any, base: str, rows: int, files: int) -> dict[str, Any]:
    """Writes all tables below `base`, as so many files of Parquet each."""
    for name, (count, columns) in tables(rows).items():
        made = spark.range(0, count, 1, files)
        made.selectExpr(*(f"{sql} AS {it}" for it, sql in columns.items())).write.parquet(
            f"{base}/{name}"
        )
    return {"rows": rows}


def run_queries(spark: Any, base: str) -> dict[str, Any]:
    """Runs all queries; returns the seconds of each, of all, and a checksum of all rows."""
    for name in tables(4):
        spark.read.parquet(f"{base}/{name}").createOrReplaceTempView(name)
    digest, seconds = hashlib.sha256(), {}
    for name, sql in QUERIES.items():
        started = time.monotonic()
        found = sorted(map(tuple, spark.sql(sql).collect()))
        seconds[name] = round(time.monotonic() - started, 3)
        digest.update(repr((name, found)).encode())
    return {"seconds": sum(seconds.values()), "each": seconds, "checksum": digest.hexdigest()[:16]}


def main(what: str, base: str, *numbers: str) -> None:
    """Writes the tables, or runs the queries on them."""
    from pyspark.sql import SparkSession

    spark = SparkSession.builder.appName(f"vas-{what}").getOrCreate()
    if what == "generate":
        found = generate(spark, base, *map(int, numbers))
    else:
        found = run_queries(spark, base)
    spark.stop()
    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
