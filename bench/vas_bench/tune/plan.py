"""PLAN.yaml of a search: what may change, from which baseline, and how hard to look."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from vas_bench.run.plan import (
    Hosts,
    JvmProfile,
    Many,
    Reducers,
    Seconds,
    Size,
    Split,
    WorkloadName,
)
from vas_bench.run.systems import PROFILES
from vas_bench.statistics.chance import runs_needed
from vas_core.sizes import format_size
from vas_yarn.jobs.systems import System

SORT_BUFFER = "mapreduce.task.io.sort.mb"
SPLIT = "vas.lustre.block-size"
REDUCERS = "mapreduce.job.reduces"
_MIB = 1 << 20
_NAMED = {SORT_BUFFER: "sort_buffer", SPLIT: "split", REDUCERS: "reducers"}
_OF_DAEMONS = ("yarn.nodemanager.", "yarn.resourcemanager.", "yarn.scheduler.")


def _wrong(what: str) -> PydanticCustomError:
    return PydanticCustomError("vas", "{what}", {"what": what})


def _as_text(value: Any) -> Any:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


def _whole_mib(size_bytes: int) -> int:
    if size_bytes % _MIB:
        raise _wrong("a sort buffer is of whole MiB")
    return size_bytes


def _of_a_job(profile: JvmProfile) -> JvmProfile:
    if PROFILES[profile].lab:
        raise _wrong(f"{profile} changes the NodeManagers too, which no job can")
    return profile


def _key(key: str) -> str:
    if key in _NAMED:
        raise _wrong(f"give {key} as {_NAMED[key]}")
    if key.startswith(_OF_DAEMONS):
        raise _wrong(f"{key} is a daemon's, not a job's")
    return key


def _printable(value: str) -> str:
    if not value.isprintable():
        raise _wrong("there is a control character in it")
    return value


Key = Annotated[str, AfterValidator(_printable), AfterValidator(_key)]
Value = Annotated[str, BeforeValidator(_as_text), AfterValidator(_printable)]
Buffer = Annotated[Size, AfterValidator(_whole_mib)]
Jvm = Annotated[JvmProfile, AfterValidator(_of_a_job)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Baseline(_Model):
    """The settings used now. A sort buffer that is left out is Hadoop's own."""

    split: Split = 32 << 20
    reducers: Reducers = 4
    sort_buffer: Buffer | None = None
    jvm: Jvm = "lab"
    properties: dict[Key, Value] = {}


class Sweep(_Model):
    """The values tried, in all combinations. A key that is left out stays as in the baseline."""

    split: Many[Split] | None = None
    reducers: Many[Reducers] | None = None
    sort_buffer: Many[Buffer] | None = None
    jvm: Many[Jvm] | None = None
    properties: dict[Key, Many[Value]] = {}

    @model_validator(mode="after")
    def _something(self) -> Sweep:
        if not (self.properties or self.model_fields_set - {"properties"}):
            raise _wrong("there is nothing to try")
        return self


class Search(_Model):
    """Successive halving: how many candidates, runs of each in the first rung, and who stays."""

    candidates: Annotated[int, Field(ge=1, description="drawn by lot where there are more")] = 24
    runs: Annotated[int, Field(ge=1)] = 1
    keep_one_in: Annotated[int, Field(ge=2, description="of a rung; runs multiply by it")] = 3


class Confirm(_Model):
    """New runs of the baseline and the best, in rounds: these alone decide."""

    finalists: Annotated[int, Field(ge=1, le=10)] = 2
    rounds: Annotated[int, Field(ge=1)] = 9

    @model_validator(mode="after")
    def _enough(self) -> Confirm:
        needed = runs_needed(self.finalists, paired=True)
        if self.rounds < needed:
            raise _wrong(f"{self.rounds} rounds can never be significant: give {needed} or more")
        return self


class TunePlan(_Model):
    """A plan of a search. `properties` are given to every job; `budget` is in seconds."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")]
    workload: WorkloadName = "terasort"
    system: System = "vas"
    size: Size = 256 << 20
    hosts: Hosts = 4
    baseline: Baseline = Baseline()
    sweep: Sweep
    search: Search = Search()
    confirm: Confirm = Confirm()
    properties: dict[Key, Value] = {}
    warm_up: Annotated[int, Field(ge=0, description="runs of the baseline before all")] = 1
    seed: Annotated[int, Field(ge=0)] = 1
    budget: Seconds | None = None
    drop_caches: bool = True

    @model_validator(mode="after")
    def _fitting(self) -> TunePlan:
        largest = max((self.baseline.split, *(self.sweep.split or ())))
        if largest > self.size:
            raise _wrong(f"a split of {format_size(largest)} is more than the input")
        if self.system in ("yarn-hdfs", "tez"):
            raise _wrong(f"system {self.system} comes with a later version")
        return self
