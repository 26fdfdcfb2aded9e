"""The number of counters that VAS adds to a job's own stays within a site's limits."""

from __future__ import annotations

import re
from pathlib import Path

from vas_cluster import load_cluster
from vas_cluster.hadoop import hadoop_properties
from vas_core.repository import REPOSITORY

PLUGINS = REPOSITORY / "yarn-plugins"
EXAMPLE = REPOSITORY / "cluster/examples/four-oss.yaml"
_HADOOPS_MOST_COUNTERS, _HADOOPS_MOST_GROUPS = 120, 50
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)


def constants(file: str) -> set[str]:
    """The constants of an enumeration's Java source."""
    source = _COMMENT.sub("", (PLUGINS / file).read_text())
    body = re.search(r"\benum \w+ \{([A-Z_,\s]+)", source)
    assert body is not None, file
    return set(re.findall(r"[A-Z_]+", body[1]))


def names() -> tuple[set[str], set[str]]:
    """The counters of the shuffle, and those of warm containers."""
    reduces = PLUGINS / "shuffle/src/main/java/org/vas/shuffle/reduce/ReduceCounters.java"
    shuffle = constants("shuffle/src/main/java/org/vas/shuffle/mof/MetadataOperation.java")
    shuffle |= set(re.findall(r'\badd\("(\w+)"', reduces.read_text()))
    return shuffle, constants("app/src/main/java/org/vas/app/ContainerCounter.java")


def uses(pattern: str) -> set[str]:
    """The source files that match."""
    sources = PLUGINS.glob("*/src/main/java/**/*.java")
    return {file.name for file in sources if re.search(pattern, file.read_text())}


def test_N6_a_site_allows_what_vas_counts_besides_a_jobs_own() -> None:
    shuffle, containers = names()
    properties = hadoop_properties(load_cluster(EXAMPLE), Path("/etc/vas/cluster.yaml"))
    most = _HADOOPS_MOST_COUNTERS + len(shuffle) + len(containers)
    assert int(properties["mapreduce.job.counters.max"]) == most
    assert int(properties["mapreduce.job.counters.groups.max"]) == _HADOOPS_MOST_GROUPS + 2
    page = " ".join((REPOSITORY / "docs/shuffle.md").read_text().split())
    told = f"they are {len(shuffle)}, and those of [warm containers](warm.md) {len(containers)}"
    assert told in page and f"`mapreduce.job.counters.max` {most}" in page


def test_N6_no_other_class_of_a_task_counts_under_a_name() -> None:
    assert uses(r"getCounter\((?!TaskCounter|JobCounter)") <= {
        "Publisher.java",
        "ReduceCounters.java",
        "OneMap.java",  # a program of the benchmark
    } | uses(r"package org\.vas\.workloads")
    assert uses(r"addCounterUpdate\(") <= {"WarmListener.java", "WarmAllocator.java"}
