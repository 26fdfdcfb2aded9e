"""Compares the containers that Spark asks YARN for with the largest that YARN gives. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# JavaUtils.byteStringAs, in MiB; Spark takes no fractions.
_SIZE = re.compile(r"([0-9]{1,15})([a-z]*)")
_UNITS = {"b": 0, "k": 10, "m": 20, "g": 30, "t": 40, "p": 50}
_FACTOR, _LEAST_OVERHEAD_MIB = 0.10, 384
_MOST_FACTOR = 1e6  # no machine has so much memory for the smallest heap
# UnifiedMemoryManager: one and a half of the 300 MiB that Spark keeps for itself.
_LEAST_HEAP_MIB = 450


@dataclass(frozen=True)
class ContainerLimits:
    """The largest container of a site, each figure None where it is not known.

    `mib` and `vcores`: `yarn.scheduler.maximum-allocation-mb` and `-vcores`. `node_mib`: what the
    largest node gives that the site's files or its map tell of; there may be larger ones.
    """

    mib: int | None = None
    vcores: int | None = None
    node_mib: int | None = None


@dataclass(frozen=True)
class SparkContainer:
    """A container that Spark asks for: the heap, and what is added to it, in MiB.

    `overhead_mib` is None where Spark computes it from the heap by `factor` and `least_mib`.
    """

    who: str
    heap_mib: int
    overhead_mib: int | None
    factor: float
    least_mib: int
    other_mib: int
    vcores: int
    heap_word: str
    overhead_key: str
    vcores_word: str

    @property
    def mib(self) -> int:
        """Returns the memory that YARN is asked for."""
        return self._with_heap(self.heap_mib)

    def _with_heap(self, heap_mib: int) -> int:
        computed = max(int(self.factor * heap_mib), self.least_mib)
        overhead = computed if self.overhead_mib is None else self.overhead_mib
        return heap_mib + overhead + self.other_mib

    def fit(self, limit_mib: int) -> str:
        """Returns the words that make it fit a limit."""
        heap = bisect_right(range(limit_mib), limit_mib, key=self._with_heap) - 1
        if heap < _LEAST_HEAP_MIB:
            return f"set {self.overhead_key} too: the two together have to fit"
        return f"at most {self.heap_word}{heap}m"


def spark_containers(conf: Mapping[str, str], *, is_python: bool) -> list[SparkContainer]:
    """Returns the containers of an executor and of the application master that properties ask for.

    An empty list where the master is not YARN, or a value is none that Spark reads.

    As `org.apache.spark.deploy.yarn.Client` of Spark 4.2.0 adds them up: the heap and
    `memoryOverhead`, by default the larger of `minMemoryOverhead` (384 MiB) and the heap times
    `memoryOverheadFactor` (0.10, also for PySpark: 0.40 is Kubernetes' alone); for an executor also
    memory off the heap, and of a program in Python `spark.executor.pyspark.memory`. In cluster mode
    the application master has the driver and its keys, in client mode those of `spark.yarn.am`.
    """
    if conf.get("spark.master") != "yarn":
        return []
    try:
        return [_executor(conf, is_python=is_python), _master(conf)]
    except ValueError:
        return []


def too_large(containers: list[SparkContainer], limits: ContainerLimits) -> list[str]:
    """Returns a sentence for each figure above YARN's limits: what is asked for, limit, fix."""
    return [problem for each in containers for problem in _refused(each, limits)]


def above_known_nodes(containers: list[SparkContainer], limits: ContainerLimits) -> list[str]:
    """Returns a sentence for each container that is larger than the largest node that is known."""
    node = limits.node_mib
    return [
        f"{_asks(each)}, and the largest node that is known here gives {node} MiB; {each.fit(node)}"
        for each in containers
        if node is not None and each.mib > node
    ]


def _refused(each: SparkContainer, limits: ContainerLimits) -> Iterator[str]:
    if limits.mib is not None and each.mib > limits.mib:
        limit = f"yarn.scheduler.maximum-allocation-mb is {limits.mib}"
        yield f"{_asks(each)}, and {limit}; {each.fit(limits.mib)}"
    if limits.vcores is not None and each.vcores > limits.vcores:
        limit = f"yarn.scheduler.maximum-allocation-vcores is {limits.vcores}"
        fix = f"at most {each.vcores_word}{limits.vcores}"
        yield f"{each.who} asks for {each.vcores} vcores, and {limit}; {fix}"


def _asks(each: SparkContainer) -> str:
    parts = f"a heap of {each.heap_mib} and {each.mib - each.heap_mib} more"
    return f"{each.who} asks for {each.mib} MiB ({parts})"


def _executor(conf: Mapping[str, str], *, is_python: bool) -> SparkContainer:
    off_heap = conf.get("spark.memory.offHeap.enabled", "").strip().lower() == "true"
    other = _bytes(conf.get("spark.memory.offHeap.size", "0b"), unit="b") if off_heap else 0
    workers = _mib(conf, "spark.executor.pyspark.memory", 0) if is_python else 0
    return _container(
        conf,
        "an executor",
        "spark.executor",
        1024,
        (other >> 20) + workers,
        ("--executor-memory ", "--executor-cores "),
    )


def _master(conf: Mapping[str, str]) -> SparkContainer:
    if conf.get("spark.submit.deployMode") == "cluster":
        words = ("--driver-memory ", "--driver-cores ")
        return _container(
            conf, "the application master with the driver", "spark.driver", 1024, 0, words
        )
    words = ("--conf spark.yarn.am.memory=", "--conf spark.yarn.am.cores=")
    return _container(conf, "the application master", "spark.yarn.am", 512, 0, words)


def _container(
    conf: Mapping[str, str],
    who: str,
    prefix: str,
    heap_mib: int,
    other_mib: int,
    words: tuple[str, str],
) -> SparkContainer:
    overhead = f"{prefix}.memoryOverhead"
    return SparkContainer(
        who=who,
        heap_mib=_mib(conf, f"{prefix}.memory", heap_mib),
        overhead_mib=_mib(conf, overhead, 0) if overhead in conf else None,
        factor=_factor(conf.get(f"{prefix}.memoryOverheadFactor", _FACTOR)),
        least_mib=_mib(conf, f"{prefix}.minMemoryOverhead", _LEAST_OVERHEAD_MIB),
        other_mib=other_mib,
        vcores=int(conf.get(f"{prefix}.cores", 1)),
        heap_word=words[0],
        overhead_key=overhead,
        vcores_word=words[1],
    )


def _factor(value: str | float) -> float:
    """Parses a factor of a heap. Raises ValueError for no number, a negative or a huge one."""
    number = float(value)
    if not 0 <= number <= _MOST_FACTOR:
        raise ValueError(value)
    return number


def _mib(conf: Mapping[str, str], key: str, default: int) -> int:
    return _bytes(conf[key], unit="m") >> 20 if key in conf else default


def _bytes(text: str, unit: str) -> int:
    """Raises ValueError for what Spark does not read as a size."""
    found = _SIZE.fullmatch(text.strip().lower())
    named = (found[2] or unit) if found else ""
    named = named if named == "b" else named.removesuffix("b")
    if not found or named not in _UNITS:
        raise ValueError(text)
    return int(found[1]) << _UNITS[named]
