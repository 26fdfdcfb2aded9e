"""Prints the sizes that Spark's client of YARN computes. It imports no VAS.

Its one word is a JSON list of properties; it prints a list with the same number of objects, in MiB.
"""

from __future__ import annotations

import json
import sys
from typing import Any

_FIELDS = {
    "executor": ("executorMemory", "executorOffHeapMemory", "executorMemoryOverhead"),
    "workers": ("pysparkWorkerMemory",),
    "master": ("amMemory", "amMemoryOverhead"),
    "master_vcores": ("amCores",),
}


def _value(client: Any, name: str) -> int:
    field = client.getClass().getDeclaredField(name)
    field.setAccessible(True)
    return int(field.get(client))


def main() -> None:
    from pyspark import SparkConf
    from pyspark.java_gateway import launch_gateway

    gateway = launch_gateway(SparkConf())
    spark = gateway.jvm.org.apache.spark
    found = []
    for properties in json.loads(sys.argv[1]):
        conf = spark.SparkConf(False)
        for key, value in properties.items():
            conf.set(key, value)
        words = spark.deploy.yarn.ClientArguments(gateway.new_array(gateway.jvm.String, 0))
        client = spark.deploy.yarn.Client(words, conf, None)
        found.append({k: sum(_value(client, name) for name in v) for k, v in _FIELDS.items()})
    print(json.dumps(found))
    gateway.shutdown()


if __name__ == "__main__":
    main()
