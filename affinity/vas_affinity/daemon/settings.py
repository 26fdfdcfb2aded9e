"""The numbers of the daemon that a site may change."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, model_validator

DEFAULT_PATH = Path("/etc/vas/affinity.yaml")


class Better(StrEnum):
    """Which way a metric is good: throughput higher, latency lower."""

    HIGHER = "higher"
    LOWER = "lower"


class Valve(BaseModel):
    """The metric of the watched service that a change must not spoil, and from where it comes.

    Exactly one of `command` (its first number on stdout), `file` (its first number) and
    `prometheus` (a metrics page, with `metric` and `labels`; several samples are added).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[str, ...] | None = Field(default=None, min_length=1)
    file: Path | None = None
    prometheus: str | None = Field(default=None, pattern="^https?://")
    metric: str | None = None
    labels: dict[str, str] = {}
    rate: bool = Field(default=False, description="a counter: its growth a second is what counts")
    better: Better
    threshold: float = Field(
        default=0.1, gt=0, lt=1, description="how much worse is too much, as a share"
    )
    window_seconds: float = Field(
        default=120, ge=1, description="before a change, and after it, that are compared"
    )
    samples: int = Field(default=3, ge=1, description="the fewest that say anything")
    hold_off_seconds: float = Field(
        default=600, ge=1, description="without a change after one was taken back; then doubled"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Valve:
        sources = (self.command, self.file, self.prometheus)
        if sum(source is not None for source in sources) != 1:
            raise ValueError("name one of command, file, prometheus")
        if (self.prometheus is None) != (self.metric is None):
            raise ValueError("prometheus and metric go together")
        return self


class Settings(BaseModel):
    """When the daemon looks, when a move pays, and how often it may change something."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    check_seconds: float = Field(default=10, ge=0.1, le=300, description="between two looks")
    replan_seconds: float = Field(default=60, ge=1, description="between two plans")
    gain_over_cost: float = Field(
        default=2, ge=0, description="what a move must gain for each unit that it costs"
    )
    move_cost: float = Field(
        default=0.05, ge=0, description="of moving all threads, as a share of today's score"
    )
    hold_seconds: float = Field(
        default=60, ge=0, description="how long a better plan must stay better"
    )
    settle_seconds: float = Field(default=300, ge=0, description="between two moves")
    moves_per_hour: int = Field(default=4, ge=1)
    repairs: int = Field(
        default=5, ge=1, description="within repair_seconds; then someone else insists"
    )
    repair_seconds: float = Field(default=300, ge=1)
    least_busy: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="share of the CPUs' time in use, below which nothing is learned",
    )
    valve: Valve | None = None
