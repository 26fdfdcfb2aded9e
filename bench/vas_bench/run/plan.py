"""PLAN.yaml: which workloads run on which systems with which parameters, and how often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictInt,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from vas_bench.results.systems import NODE_SYSTEMS, SYSTEMS
from vas_cluster.model import Flock
from vas_core.durations import parse_duration
from vas_core.errors import BadInput
from vas_core.problems import key_text, structure_problems
from vas_core.sizes import format_size, parse_size
from vas_yarn.jobs.systems import System
from vas_yarn.jobs.terasort import MIN_SPLIT_BYTES
from vas_yarn.small_cluster import MAX_HOSTS

WorkloadName = Literal[
    "teragen",
    "terasort",
    "wordcount",
    "wordcount-without-combiner",
    "wordcount-watched",
    "grep",
    "secondarysort",
    "sort",
    "sort-as-text",
    "selfjoin",
    "invertedindex",
    "sequencecount",
    "adjacencylist",
    "testdfsio-write",
    "testdfsio-read",
    "testdfsio-append",
]
Links = Literal["free", "honest"]
Codec = Literal["none", "gzip", "lz4"]
JvmProfile = Literal["lab", "roomy", "c2"]

_STRIPE_ALIGNMENT_BYTES = 64 << 10
_MOST_ROUNDS = 1000
Value = TypeVar("Value")


def _parsed(parse: Callable[[str], int]) -> BeforeValidator:
    def read(value: Any) -> Any:
        try:
            return parse(value) if isinstance(value, str) else value
        except BadInput as wrong:
            raise PydanticCustomError("vas", "{what}", {"what": str(wrong)}) from wrong

    return BeforeValidator(read)


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _distinct(values: tuple[Value, ...]) -> tuple[Value, ...]:
    if len(set(values)) < len(values):
        raise _wrong("names something twice")
    return values


def _wrong(what: str) -> PydanticCustomError:
    return PydanticCustomError("vas", "{what}", {"what": what})


def _splittable(split_bytes: int) -> int:
    if split_bytes % _STRIPE_ALIGNMENT_BYTES:
        raise _wrong(f"a split is a stripe: give a multiple of {_STRIPE_ALIGNMENT_BYTES >> 10}K")
    if split_bytes < MIN_SPLIT_BYTES:
        raise _wrong(f"give {format_size(MIN_SPLIT_BYTES)} or more: smaller stripes are not blocks")
    return split_bytes


Many = Annotated[
    tuple[Value, ...], BeforeValidator(_as_list), AfterValidator(_distinct), Field(min_length=1)
]
Size = Annotated[int, _parsed(parse_size), Field(ge=1 << 20)]
Split = Annotated[Size, AfterValidator(_splittable)]
Seconds = Annotated[int, _parsed(parse_duration), Field(ge=1)]
Hosts = Annotated[int, Field(ge=1, le=MAX_HOSTS)]
Rounds = Annotated[StrictInt, Field(ge=1, le=_MOST_ROUNDS)]
Reducers = Annotated[int, Field(ge=1, le=10_000)]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PlanParameters(_Model):
    """The parameters, each a value or a list of values; runs are made of all combinations."""

    size: Many[Size] = Field(default=(256 << 20,), description="bytes of the input")
    split: Many[Split] = Field(default=(32 << 20,), description="bytes of a stripe, and of a map")
    reducers: Many[Reducers] = (4,)
    hosts: Many[Hosts] = Field(default=(4,), description="storage servers, each with a guest")
    codec: Many[Codec] = Field(default=("none",), description="of the map output")
    jvm: Many[JvmProfile] = Field(default=("lab",), description="heaps, containers, compiler")
    flock: Many[Flock] = Field(default=(Flock.FLOCK,), description="of Lustre's mounts")
    links: Many[Links] = Field(
        default=("honest",), description="what a byte on another host costs in a lab"
    )

    @model_validator(mode="after")
    def _fitting(self) -> PlanParameters:
        if max(self.split) > min(self.size):
            small, large = format_size(min(self.size)), format_size(max(self.split))
            raise _wrong(f"a split of {large} is more than an input of {small}")
        return self


class BenchPlan(_Model):
    """A plan. `properties` are given to every job; `budget` and `run_limit` are in seconds."""

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")]
    workloads: Many[WorkloadName]
    systems: Many[System]
    parameters: PlanParameters = PlanParameters()
    properties: dict[str, str] = {}
    rounds: Rounds = 5
    warm_up: Annotated[
        StrictInt, Field(ge=0, le=_MOST_ROUNDS, description="rounds that are not counted")
    ] = 1
    seed: Annotated[int, Field(ge=0)] = 1
    budget: Seconds | None = None
    run_limit: Seconds = 30 * 60
    drop_caches: bool = True

    @property
    def limit_seconds(self) -> int:
        """The seconds after which a job is killed: never more than the budget."""
        return min(self.run_limit, self.budget or self.run_limit)

    @property
    def with_hdfs(self) -> bool:
        """Tells whether the plan's labs have HDFS too, whichever system runs."""
        return "yarn-hdfs" in self.systems

    @property
    def with_shuffled(self) -> bool:
        """Tells whether the nodes of the plan's labs run vas-shuffled, and the lab is watched."""
        return not NODE_SYSTEMS.isdisjoint(self.systems)


def made_plan(**fields: Any) -> BenchPlan:
    """Makes a plan from options instead of a file. Raises BadInput that names the option."""
    try:
        return BenchPlan.model_validate(fields)
    except ValidationError as wrong:
        first = structure_problems(wrong, BenchPlan)[0]
        option = key_text(first.path).removeprefix("parameters.").removesuffix("[0]")
        raise BadInput(first.what, where=f"--{option}", hint=first.fix or None) from wrong


def in_order(systems: tuple[System, ...]) -> list[System]:
    """Returns systems in the order in which reports show them."""
    return sorted(systems, key=list(SYSTEMS).index)
