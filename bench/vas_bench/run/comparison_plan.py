"""The plans that VAS brings for `vas bench arms` and `vas bench shuffle`: jobs on systems."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from vas_bench.run.experiments import Experiment
from vas_bench.run.plan import BenchPlan, Hosts, JvmProfile, Many, Size, WorkloadName, made_plan
from vas_yarn.jobs.systems import System
from vas_yarn.jobs.terasort import TeraSortSizes

_ALIGNMENT_BYTES = 64 << 10


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlannedJob(_Model):
    """A job, the systems that run it, and how its input is cut.

    Its input is `share` of the size that the user gives, or `size`. Without `maps` it is cut for a
    lab's hosts, as the demo's. `files` are those of a cut input; 0 is one of every two splits.
    `common` are properties of the job on all its systems; `properties` are those of a system in
    this job, over the plan's.
    """

    title: str
    workload: WorkloadName
    systems: Many[System]
    share: Annotated[float, Field(gt=0)] = 1
    size: Size | None = None
    maps: Annotated[int, Field(ge=1)] | None = None
    reducers: Annotated[int, Field(ge=1)] = 4
    files: Annotated[int, Field(ge=0)] = 0
    common: dict[str, str] = {}
    properties: dict[System, dict[str, str]] = {}

    def size_bytes(self, asked: int) -> int:
        """Returns the bytes of its input."""
        return self.size or int(asked * self.share)

    def cut(self, size_bytes: int, hosts: int) -> tuple[int, int, int]:
        """Returns the bytes of a split, the reducers, and the files (0: one of every two splits).

        Raises BadInput for less than a split a host, where it is cut for hosts.
        """
        if self.maps is None:
            sizes = TeraSortSizes.of(size_bytes, hosts)
            return sizes.split_bytes, sizes.reducers, sizes.generators
        even = -(-size_bytes // self.maps)
        return -(-even // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES, self.reducers, self.files


class ComparisonPlan(_Model):
    """Jobs in the order they run. `properties` are those of a system, in all of its jobs."""

    name: str
    hosts: Hosts = 4
    jvm: JvmProfile = "lab"
    jobs: dict[str, PlannedJob]
    properties: dict[System, dict[str, str]] = {}

    def experiments(
        self, key: str, size_bytes: int, names: Mapping[System, str] | None = None
    ) -> list[Experiment]:
        """Returns a job on each of its systems, or on those that have a name in `names`."""
        job = self.jobs[key]
        size = job.size_bytes(size_bytes)
        split, reducers, files = job.cut(size, self.hosts)
        return [
            Experiment(
                workload=job.workload,
                system=system,
                size_bytes=size,
                split_bytes=split,
                reducers=reducers,
                files=files,
                hosts=self.hosts,
                jvm=self.jvm,
                system_properties=tuple(self._properties(job, system).items()),
                label=f"{job.title}, {names[system] if names else system}",
            )
            for system in job.systems
            if names is None or system in names
        ]

    def _properties(self, job: PlannedJob, system: System) -> dict[str, str]:
        own = job.properties.get(system, {})
        return {**job.common, **self.properties.get(system, {}), **own}

    def site_plan(self, of: Iterable[Experiment]) -> BenchPlan:
        """Returns the plan that a lab is made for; the page cache stays as a run left it."""
        found = list(of)
        workloads = list(dict.fromkeys(each.workload for each in found))
        systems = list(dict.fromkeys(each.system for each in found))
        return made_plan(name=self.name, workloads=workloads, systems=systems, drop_caches=False)
