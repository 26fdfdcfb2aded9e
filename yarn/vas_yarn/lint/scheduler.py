"""Compares what a job asks for with the most that YARN's scheduler gives one container. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from vas_yarn.lint.contradiction import Contradiction, number
from vas_yarn.lint.memory import task
from vas_yarn.site_files import JobConfiguration

_MIB = 1 << 20
_TASKS = ("map", "reduce")
_MASTER_MB = "yarn.app.mapreduce.am.resource.mb"
_MASTER_VCORES = "yarn.app.mapreduce.am.resource.cpu-vcores"
_DEFAULT_MASTER_MB = 1536


def containers_in_scheduler(conf: JobConfiguration) -> Iterator[Contradiction]:
    """Finds containers of tasks and of the application master above the scheduler's limits.

    The ResourceManager refuses such a master, and a master ends its job over such a task
    (RMContainerAllocator), whatever the nodes have.
    """
    memory = {f"mapreduce.{kind}.memory.mb": task(conf, kind).container // _MIB for kind in _TASKS}
    memory[_MASTER_MB] = int(number(conf, _MASTER_MB, _DEFAULT_MASTER_MB))
    yield from _above(conf, memory, "yarn.scheduler.maximum-allocation-mb")
    vcores = (*(f"mapreduce.{kind}.cpu.vcores" for kind in _TASKS), _MASTER_VCORES)
    asked = {key: int(number(conf, key, 1)) for key in vcores}
    yield from _above(conf, asked, "yarn.scheduler.maximum-allocation-vcores")


def _above(
    conf: JobConfiguration, asked: dict[str, int], limit_key: str
) -> Iterator[Contradiction]:
    limit = int(number(conf, limit_key, 0))
    for key, amount in asked.items():
        if 0 < limit < amount:
            why = f"above {limit_key} = {limit}: the job is refused"
            yield Contradiction(key, str(amount), why, f"at most {limit}")
