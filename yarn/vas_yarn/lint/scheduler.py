"""Compares what a job asks for with the most that YARN's scheduler gives one container. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from vas_yarn.lint.contradiction import Contradiction, number
from vas_yarn.lint.memory import task
from vas_yarn.site_files import JobConfiguration

_MIB = 1 << 20
_MASTER = "yarn.app.mapreduce.am"
_DEFAULT_MASTER_MB = 1536
_MEMORY, _VCORES = ("memory-mb", "memory"), ("vcores",)
"""Ends of the keys below PARTY.resource. by which Hadoop 3 takes a resource, before any other."""


def containers_in_scheduler(conf: JobConfiguration) -> Iterator[Contradiction]:
    """Finds containers of tasks and of the application master above the scheduler's limits.

    The ResourceManager refuses such a master, and a master ends its job over such a task
    (RMContainerAllocator), whatever the nodes have. A resource that is asked for by another key
    (`mapreduce.map.resource.vcores`) is left out.
    """
    kinds = ("map",) if number(conf, "mapreduce.job.reduces", 1) == 0 else ("map", "reduce")
    memory = {f"mapreduce.{kind}.memory.mb": task(conf, kind).container // _MIB for kind in kinds}
    master = f"{_MASTER}.resource.mb"
    memory[master] = int(number(conf, master, _DEFAULT_MASTER_MB))
    yield from _above(conf, memory, "yarn.scheduler.maximum-allocation-mb", _MEMORY)
    keys = (*(f"mapreduce.{kind}.cpu.vcores" for kind in kinds), f"{_MASTER}.resource.cpu-vcores")
    vcores = {key: int(number(conf, key, 1)) for key in keys}
    yield from _above(conf, vcores, "yarn.scheduler.maximum-allocation-vcores", _VCORES)


def _above(
    conf: JobConfiguration, asked: dict[str, int], limit_key: str, others: tuple[str, ...]
) -> Iterator[Contradiction]:
    limit = int(number(conf, limit_key, 0))
    for key, amount in asked.items():
        party = _MASTER if key.startswith(_MASTER) else ".".join(key.split(".")[:2])
        if any(conf.get(f"{party}.resource.{other}") for other in others):
            continue
        if 0 < limit < amount:
            why = f"above {limit_key} = {limit}: the job is refused"
            yield Contradiction(key, str(amount), why, f"at most {limit}")
