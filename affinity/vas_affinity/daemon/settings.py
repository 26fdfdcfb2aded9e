"""The settings of `vas-affinityd` that a site may change: /etc/vas/affinity.yaml."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from vas_affinity.arrivals.way import NoticeWay

DEFAULT_PATH = Path("/etc/vas/affinity.yaml")


class BetterWhen(StrEnum):
    """The direction in which a metric is better: throughput higher, latency lower."""

    HIGHER = "higher"
    LOWER = "lower"


class Valve(BaseModel):
    """The metric of the watched service that a move must not make worse, and its source.

    Exactly one of `command` (the first number on its stdout), `file` (its first number) and
    `prometheus` (a metrics page, with `metric` and `labels`; several samples are added).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    command: tuple[str, ...] | None = Field(default=None, min_length=1)
    file: Path | None = None
    prometheus: str | None = Field(default=None, pattern="^https?://")
    metric: str | None = None
    labels: dict[str, str] = {}
    rate: bool = Field(default=False, description="a counter: its growth per second counts")
    better: BetterWhen
    threshold: float = Field(
        default=0.1, gt=0, lt=1, description="how much worse is too much, as a share"
    )
    window_seconds: float = Field(
        default=120, ge=1, description="time before and after a move that is compared"
    )
    samples: int = Field(default=3, ge=1, description="fewest samples that count")
    hold_off_seconds: float = Field(
        default=600, ge=1, description="time without moves after a revert; then doubled"
    )

    @model_validator(mode="after")
    def _one_source(self) -> Valve:
        sources = (self.command, self.file, self.prometheus)
        if sum(source is not None for source in sources) != 1:
            raise ValueError("name one of command, file, prometheus")
        if (self.prometheus is None) != (self.metric is None):
            raise ValueError("prometheus and metric go together")
        return self


class AffinitySettings(BaseModel):
    """Sets when the daemon checks, when a move pays, and how often it may change something."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    check_seconds: float = Field(default=10, ge=0.1, le=300, description="time between two checks")
    replan_seconds: float = Field(default=60, ge=1, description="time between two plans")
    gain_over_cost: float = Field(
        default=2, ge=0, description="what a move must gain for each unit that it costs"
    )
    move_cost: float = Field(
        default=0.05, ge=0, description="cost of moving all threads, as a share of today's score"
    )
    hold_seconds: float = Field(
        default=60, ge=0, description="how long a better plan must stay better"
    )
    settle_seconds: float = Field(default=300, ge=0, description="time between two moves")
    moves_per_hour: int = Field(default=4, ge=1)
    repairs: int = Field(
        default=5, ge=1, description="most repairs within repair_seconds; then the daemon waits"
    )
    repair_seconds: float = Field(default=300, ge=1)
    least_busy: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description="share of the CPUs' time in use below which no move is made",
    )
    new_threads: NoticeWay | Literal["none"] = Field(
        default=NoticeWay.CONNECTOR,
        description="how new threads are noticed, at best; none: not at all",
    )
    valve: Valve | None = None
