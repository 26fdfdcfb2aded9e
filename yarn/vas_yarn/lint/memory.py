"""Compares a task's heap with its container, and the container with its node. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vas_cluster import Cluster
from vas_yarn.lint.contradiction import Contradiction, number
from vas_yarn.site_files import JobConfiguration

_SIZED = re.compile(r"-Xm[xns]")
_FLAG = re.compile(r"-X(mx|mn|ms)([0-9]{1,18})([kKmMgGtT]?)(?=\s|$)")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_MIB = 1 << 20
_BOTH_OPTS = "mapred.child.java.opts"
_DEFAULT_CONTAINER_MB = 1024
_DEFAULT_RATIO = 0.8
# Less is no share of a container that a JVM could start in.
_LEAST_RATIO = 0.001
# Of the container: stacks, class data and buffers outside the heap.
_OUTSIDE_HEAP = 0.1
_SORT_SHARE = 0.8


@dataclass(frozen=True)
class TaskMemory:
    """The heap and container of one kind of task, `map` or `reduce`, in bytes."""

    kind: str
    container: int
    heap: int
    young: int
    heap_is_chosen: bool

    @property
    def opts_key(self) -> str:
        """The configuration key of the task's JVM flags."""
        return f"mapreduce.{self.kind}.java.opts"

    @property
    def memory_key(self) -> str:
        """The configuration key of the size of the task's container."""
        return f"mapreduce.{self.kind}.memory.mb"


def task(conf: JobConfiguration, kind: str) -> TaskMemory:
    """Returns the sizes that Hadoop gives this kind of task; the last of several -Xmx counts."""
    opts = conf.get(f"mapreduce.{kind}.java.opts") or conf.get(_BOTH_OPTS)
    flags = {name: int(size) * _UNITS[unit.lower()] for name, size, unit in _FLAG.findall(opts)}
    megabytes = number(conf, f"mapreduce.{kind}.memory.mb", -1)
    ratio = number(conf, "mapreduce.job.heap.memory-mb.ratio", _DEFAULT_RATIO)
    if not _LEAST_RATIO <= ratio <= 1:
        ratio = _DEFAULT_RATIO
    heap = flags.get("mx", 0)
    if megabytes <= 0:
        # JobConf.getMemoryRequired: from the heap where one is given, else the default.
        megabytes = -(-heap // int(ratio * _MIB)) if heap else _DEFAULT_CONTAINER_MB
    container = int(megabytes * _MIB)
    return TaskMemory(
        kind, container, heap or int(container * ratio), flags.get("mn", 0), bool(heap)
    )


def unreadable_sizes(conf: JobConfiguration) -> Iterator[Contradiction]:
    """Finds sizes in JVM flags with which a JVM would not start."""
    for key in (*(f"mapreduce.{kind}.java.opts" for kind in ("map", "reduce")), _BOTH_OPTS):
        opts = conf.get(key)
        for flag in opts.split():
            if _SIZED.match(flag) and not _FLAG.fullmatch(flag):
                why = f"the JVM reads no size in {flag} and does not start"
                yield Contradiction(key, opts, why, "like -Xmx800m")


def sort_buffer(conf: JobConfiguration) -> Iterator[Contradiction]:
    """Finds a sort buffer that does not fit the heap of a map."""
    maps = task(conf, "map")
    megabytes = int(number(conf, "mapreduce.task.io.sort.mb", 100))
    room = maps.heap - maps.young if maps.young else int(maps.heap * _SORT_SHARE)
    found = conf.find("mapreduce.task.io.sort.mb")
    if megabytes * _MIB > room:
        young = f" of which -Xmn takes {maps.young // _MIB} MiB" if maps.young else ""
        yield Contradiction(
            found.key if found else "mapreduce.task.io.sort.mb",
            found.value if found else "",
            f"the sort buffer of {megabytes} MiB does not fit in a map's heap of"
            f" {maps.heap // _MIB} MiB{young}",
            f"at most {room // _MIB} here, or -Xmx of {maps.opts_key} above"
            f" {int(megabytes / _SORT_SHARE) + maps.young // _MIB}m",
        )
    if megabytes > 2047:
        yield Contradiction(
            "mapreduce.task.io.sort.mb", str(megabytes), "Hadoop refuses it", "at most 2047"
        )


def heap_in_container(conf: JobConfiguration) -> Iterator[Contradiction]:
    """Finds a heap that does not fit its container: YARN kills a JVM that outgrows it."""
    for kind in ("map", "reduce"):
        each = task(conf, kind)
        found = conf.find(each.memory_key)
        if found and each.heap_is_chosen and each.heap > each.container * (1 - _OUTSIDE_HEAP):
            yield Contradiction(
                each.memory_key,
                found.value,
                f"{each.opts_key} lets the heap grow to {each.heap // _MIB} MiB, and a JVM needs"
                " more than its heap: YARN kills the container",
                f"at least {-(-int(each.heap / (1 - _OUTSIDE_HEAP)) // _MIB)}",
            )


def containers_in_guests(conf: JobConfiguration, cluster: Cluster) -> Iterator[Contradiction]:
    """Finds containers that do not fit the memory of the site's guests."""
    guests = sorted(cluster.guests(), key=lambda guest: guest.memory_bytes)
    if not guests:
        return
    least, most = guests[0], guests[-1]
    for kind in ("map", "reduce"):
        each = task(conf, kind)
        if each.container > most.memory_bytes:
            yield Contradiction(
                each.memory_key,
                str(each.container // _MIB),
                f"no guest has that much; {most.name} has the most, {most.memory}",
                f"below {most.memory_bytes // _MIB}",
            )
    found = conf.find("yarn.nodemanager.resource.memory-mb")
    offered = int(number(conf, "yarn.nodemanager.resource.memory-mb", 0))
    if found and found.chosen and offered * _MIB > least.memory_bytes:
        yield Contradiction(
            found.key,
            found.value,
            f"YARN may fill {offered} MiB of a guest, and {least.name} has {least.memory}",
            f"below {least.memory_bytes // _MIB}",
        )


def reducers_before_maps(conf: JobConfiguration, cluster: Cluster) -> Iterator[Contradiction]:
    """Finds reducers that start early and take the memory that the maps still need."""
    key = "mapreduce.job.reduce.slowstart.completedmaps"
    reducers = int(number(conf, "mapreduce.job.reduces", 1))
    memory = sum(guest.memory_bytes for guest in cluster.guests())
    needed = reducers * task(conf, "reduce").container
    if memory and needed >= memory and number(conf, key, 0.05) < 1:
        yield Contradiction(
            key,
            conf.get(key, "0.05"),
            f"{reducers} reducers of {task(conf, 'reduce').container // _MIB} MiB can take all"
            f" memory of the guests ({memory >> 30} GiB) while they wait for maps",
            "1.0, or fewer or smaller reducers",
        )
