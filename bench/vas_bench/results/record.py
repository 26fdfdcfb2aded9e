"""The model of a run: a line in a file of results, whose phases add up to its job."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    JsonValue,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from vas_bench.results.measures import JOB_SECONDS, measure_of, primary_of
from vas_bench.results.systems import ComparedSystem

Name = Annotated[str, Field(min_length=1, max_length=200)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Parameter = StrictBool | StrictInt | StrictFloat | StrictStr
Count = Annotated[int, Field(ge=0)]
# (seconds since the run began, how much since then), in order.
CurvePoints = list[tuple[FiniteFloat, FiniteFloat]]


UNACCOUNTED = "unaccounted"
_ROUNDING_SECONDS = 0.01


def close(phases: Mapping[str, float], job_seconds: float) -> dict[str, float]:
    """Returns the phases and, last, `unaccounted`: the job's seconds that are in no phase.

    Raises ValueError for a negative phase, for phases that are longer than the job, and for an
    `unaccounted` that does not close the sum.
    """
    listed = {name: seconds for name, seconds in phases.items() if name != UNACCOUNTED}
    for name, seconds in listed.items():
        if not 0 <= seconds < float("inf"):
            raise ValueError(f"phase {name!r} takes {seconds:g} s")
    left = job_seconds - sum(listed.values())
    if left < -_ROUNDING_SECONDS:
        raise ValueError(f"the phases take {-left:.3f} s more than the job's {job_seconds:g} s")
    left = max(0.0, left)
    given = phases.get(UNACCOUNTED, left)
    if abs(given - left) > _ROUNDING_SECONDS:
        raise ValueError(f"{given:g} s are said to be unaccounted, {left:.3f} s are")
    return listed | {UNACCOUNTED: round(left, 3)}


def canonical_hash(value: Any) -> str:
    """Returns the SHA-256 of a value as JSON with sorted keys and no blanks.

    Raises ValueError for NaN.
    """
    text = json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HostLocality(_Model):
    """The map tasks of one host by where their input was, and the bytes of that input."""

    data_local_maps: Count = 0
    rack_local_maps: Count = 0
    other_maps: Count = 0
    local_input_bytes: Count = 0
    input_bytes: Count = 0


class Validation(_Model):
    """The check of an output: its result, its name, and the checksum that runs share."""

    ok: bool
    check: str = ""
    checksum: str = ""


class BenchRun(_Model):
    """One run of a workload on a system. Times are in seconds, sizes in bytes.

    The `configuration` (job properties, JVM flags, layout) and `versions` (Hadoop's, Java's,
    the plugins') are hashed with the workload, the system and the parameters: runs whose hashes
    differ are not the same experiment. `round` is its round in a plan, from 1. `curves` has what
    grew during the run. `invalid` says why a run must not be counted. A run without the measure
    that its workload is compared by (`job_seconds` for most) never ended; it is invalid.
    """

    version: Literal[1] = 1
    id: Name
    time: AwareDatetime
    workload: Name
    system: ComparedSystem
    parameters: dict[Name, Parameter] = {}
    configuration: dict[Name, JsonValue] = {}
    versions: dict[Name, str] = {}
    configuration_hash: Hash
    environment: dict[Name, JsonValue] = {}
    environment_fingerprint: Hash
    command: str = ""
    warm_up: bool = False
    round: Annotated[Count | None, Field(exclude_if=lambda value: value is None)] = None
    invalid: str | None = None
    measures: dict[str, FiniteFloat] = {}
    phases: dict[Name, FiniteFloat] = {}
    hosts: dict[Name, HostLocality] = {}
    curves: Annotated[dict[Name, CurvePoints], Field(exclude_if=lambda curves: not curves)] = {}
    validation: Validation | None = None

    @property
    def counts(self) -> bool:
        """Tells whether the run may be a sample: valid, and no warm-up."""
        return self.invalid is None and not self.warm_up

    @field_validator("measures", "curves")
    @classmethod
    def _known_measures(cls, measures: dict[str, Any]) -> dict[str, Any]:
        unknown = sorted(name for name in measures if measure_of(name) is None)
        if unknown:
            raise ValueError(f"unknown measures: {', '.join(unknown)}")
        return measures

    @field_validator("measures")
    @classmethod
    def _takes_time(cls, measures: dict[str, float]) -> dict[str, float]:
        if measures.get(JOB_SECONDS, 1) <= 0:
            raise ValueError(f"{JOB_SECONDS} is {measures[JOB_SECONDS]:g}")
        return measures

    @field_validator("curves")
    @classmethod
    def _in_order(cls, curves: dict[str, CurvePoints]) -> dict[str, CurvePoints]:
        for name, points in curves.items():
            if any(later <= sooner for (sooner, _), (later, _) in pairwise(points)):
                raise ValueError(f"the points of {name} are not in order of time")
        return curves

    @field_validator("phases")
    @classmethod
    def _closed(cls, phases: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        job_seconds = info.data.get("measures", {}).get(JOB_SECONDS)
        return phases if job_seconds is None or not phases else close(phases, job_seconds)

    @model_validator(mode="after")
    def _honest(self) -> Self:
        if self.configuration_hash != hash_of_configuration(self.__dict__):
            raise ValueError("configuration_hash is not that of the configuration")
        if self.environment_fingerprint != canonical_hash(self.environment):
            raise ValueError("environment_fingerprint is not that of the environment")
        if self.invalid is None and primary_of(self.workload) not in self.measures:
            missing = primary_of(self.workload)
            raise ValueError(f"a run without {missing} is invalid and has to say why")
        if self.invalid is None and self.validation and not self.validation.ok:
            raise ValueError("a run whose output is wrong is invalid and has to say why")
        if self.invalid is not None and not self.invalid.strip():
            raise ValueError("an invalid run has to say why")
        return self


_HASHED = {"workload", "system", "parameters", "configuration", "versions"}


def hash_of_configuration(fields: Mapping[str, Any]) -> str:
    """Computes a run's `configuration_hash` from the fields that say what was to be done."""
    return canonical_hash({name: fields.get(name, {}) for name in sorted(_HASHED)})


def make_run(**fields: Any) -> BenchRun:
    """Makes a run and computes its two hashes. Raises pydantic's ValidationError."""
    environment = fields.get("environment", {})
    hashes = {
        "configuration_hash": hash_of_configuration(fields),
        "environment_fingerprint": canonical_hash(environment),
    }
    return BenchRun.model_validate(hashes | fields)
