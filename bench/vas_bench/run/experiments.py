"""The experiments of a plan: the product of its lists. Pure."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from vas_bench.results.record import Parameter
from vas_bench.run.plan import BenchPlan, Codec, JvmProfile, Links, WorkloadName, in_order
from vas_cluster.model import Flock
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_yarn.jobs.systems import COMPUTE, INTERMEDIATE, System


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """One workload on one system with one set of parameters. Sizes are in bytes."""

    workload: WorkloadName
    system: System
    size_bytes: int
    split_bytes: int
    reducers: int
    hosts: int
    codec: Codec = "none"
    jvm: JvmProfile = "lab"
    flock: Flock = Flock.FLOCK
    links: Links = "free"
    properties: tuple[tuple[str, str], ...] = ()
    """Properties of its job, besides those that a plan gives to every job."""
    system_properties: tuple[tuple[str, str], ...] = ()
    """Properties that its system has in this plan; no parameter, so systems stay comparable."""
    files: int = 0
    """Files of the input; 0 for one of every two splits."""
    label: str = ""
    """The name that progress shows, where a plan has one."""

    @property
    def site(self) -> tuple[int, JvmProfile, Flock, Links, bool, bool]:
        """The choices that take a lab of their own."""
        where = self.is_all_on_lustre, self.is_on_compute_nodes
        return self.hosts, self.jvm, self.flock, self.links, *where

    @property
    def data(self) -> tuple[WorkloadName, int, int, int, int]:
        """The choices that the input and the right output depend on."""
        return self.workload, self.size_bytes, self.split_bytes, self.reducers, self.files

    @property
    def is_all_on_lustre(self) -> bool:
        """Tells whether the nodes' local directories, with the map output, are on Lustre."""
        return self.system in (INTERMEDIATE.system, COMPUTE.system)

    @property
    def is_on_compute_nodes(self) -> bool:
        """Tells whether the job runs on hosts of its own, as many as serve OSTs."""
        return self.system == COMPUTE.system

    @property
    def in_hdfs(self) -> bool:
        """Tells whether the input and output are in HDFS, and not on Lustre."""
        return self.system == "yarn-hdfs"

    @property
    def parameters(self) -> dict[str, Parameter]:
        """The parameters of a run's line: the numbers, and all that is not the default."""
        numbers: dict[str, Parameter] = {
            "size_bytes": self.size_bytes,
            "split_bytes": self.split_bytes,
            "reducers": self.reducers,
            "hosts": self.hosts,
        }
        return numbers | self._unusual

    @property
    def title(self) -> str:
        """The experiment in words: its label, or all that it is made of."""
        if self.label:
            return self.label
        size, split = format_size(self.size_bytes), format_size(self.split_bytes)
        rest = "".join(f", {name} {value}" for name, value in self._unusual.items())
        cut = f"{size} in {split}, {counted(self.reducers, 'reducer')}"
        cut += f", {counted(self.hosts, 'host')}"
        return f"{self.workload} on {self.system} ({cut}{rest})"

    @property
    def _unusual(self) -> dict[str, Parameter]:
        values = {
            "codec": self.codec,
            "jvm": self.jvm,
            "flock": self.flock.value,
            "links": self.links,
        }
        unusual = {name: value for name, value in values.items() if value != _USUAL[name]}
        return {**unusual, **dict(self.properties)}


_USUAL = {"codec": "none", "jvm": "lab", "flock": Flock.FLOCK.value, "links": "free"}


def experiments(plan: BenchPlan) -> list[Experiment]:
    """Returns all combinations; those of one system stand together, in the order of systems."""
    lists = plan.parameters
    combined = itertools.product(
        plan.workloads,
        lists.size,
        lists.split,
        lists.reducers,
        lists.hosts,
        lists.codec,
        lists.jvm,
        lists.flock,
        lists.links,
        in_order(plan.systems),
    )
    return [
        Experiment(
            workload=workload,
            system=system,
            size_bytes=size,
            split_bytes=split,
            reducers=reducers,
            hosts=hosts,
            codec=codec,
            jvm=jvm,
            flock=flock,
            links=links,
        )
        for workload, size, split, reducers, hosts, codec, jvm, flock, links, system in combined
    ]
