"""The sizes of containers that VAS checks before a submission, against Spark's own client."""

from __future__ import annotations

import json

import pytest

from vas_core.process import run
from vas_tests import spark_sizes
from vas_yarn.spark.containers import spark_containers
from vas_yarn.spark.installation import OF_CLONE, install_spark

pytestmark = [
    pytest.mark.slow,
    pytest.mark.long,
    pytest.mark.nightly,
    pytest.mark.timeout(900),
]
_CLUSTER = {"spark.submit.deployMode": "cluster"}
_WORKERS = {"spark.executor.pyspark.memory": "512m", "spark.yarn.isPython": "true"}
_OFF_HEAP = {"spark.memory.offHeap.enabled": "true", "spark.memory.offHeap.size": "1500m"}
_PROPERTIES: list[dict[str, str]] = [
    {},
    {"spark.executor.memory": "20g", **_WORKERS},
    {"spark.executor.memory": "3840m", "spark.yarn.am.memory": "3850"},
    {"spark.executor.memory": "5000", "spark.executor.memoryOverheadFactor": "0.333"},
    {"spark.executor.memory": "1T", "spark.executor.memoryOverhead": "1gb", **_OFF_HEAP},
    {"spark.executor.minMemoryOverhead": "600m", "spark.yarn.am.memory": "6g"},
    {"spark.yarn.am.memoryOverhead": "100m", "spark.driver.memory": "9g"},
    {"spark.yarn.am.cores": "3", "spark.driver.memoryOverheadFactor": "0.4"},
    {"spark.driver.memory": "9g", "spark.driver.memoryOverheadFactor": "0.4", **_CLUSTER},
    {"spark.driver.minMemoryOverhead": "700", "spark.driver.cores": "4", **_CLUSTER},
    {"spark.driver.memoryOverhead": "2048k", "spark.yarn.am.memory": "9g", **_CLUSTER},
]


def test_containers_have_the_sizes_that_sparks_client_computes() -> None:
    install_spark(print)
    program = [OF_CLONE / "bin/python", spark_sizes.__file__]
    told = run([*program, json.dumps(_PROPERTIES)]).stdout.splitlines()[-1]
    for properties, spark in zip(_PROPERTIES, json.loads(told), strict=True):
        is_python = "spark.yarn.isPython" in properties
        on_yarn = {"spark.master": "yarn", **properties}
        executor, master = spark_containers(on_yarn, is_python=is_python)
        assert executor.mib == spark["executor"] + spark["workers"], properties
        assert master.mib == spark["master"], properties
        assert master.vcores == spark["master_vcores"], properties
