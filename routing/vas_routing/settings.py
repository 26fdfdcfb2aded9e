"""Defines and reads the settings of the route switcher that a site may change."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from vas_core.settings import read_yaml

MAIN_TABLE = 254
DEFAULT_PATH = Path("/etc/vas/route.yaml")


class RouteSettings(BaseModel):
    """The table, protocol and priorities of VAS's routes, and when a path counts as dead."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: int = Field(default=213, ge=1, le=252, description="VAS's routing table")
    protocol: int = Field(
        default=213, ge=5, le=255, description="the mark of every route and rule that VAS made"
    )
    # A rule that is made without a priority, as ksocklnd-config does, gets one less than the
    # second rule has: only behind another 0 does it stay.
    rule_priority: int = Field(
        default=0, ge=0, le=32765, description="priority of the rule that looks up this table first"
    )
    fallback_metric: int = Field(
        default=2000,
        ge=1,
        description="metric of the route that the kernel falls back to by itself",
    )
    probe_port: int = Field(
        default=293, ge=1, le=1023, description="UDP port of the probes, which only root may use"
    )
    probe_interval_ms: int = Field(
        default=20, ge=5, le=10_000, description="milliseconds between two probes"
    )
    probe_misses: int = Field(
        default=3, ge=2, le=100, description="probes without an answer that make a path dead"
    )
    hold_down_ms: int = Field(
        default=2000,
        ge=0,
        description="milliseconds for which a path must be good before it is used again",
    )
    neighbours: int = Field(
        default=2,
        ge=0,
        le=16,
        description="number of other hosts that the SR-IOV leg is tried by",
    )


def read_settings(file: Path) -> RouteSettings:
    """Returns the settings of a YAML file; the defaults if it is the default file and missing.

    Raises BadInput that names file, key and what is wrong.
    """
    return read_yaml(file, RouteSettings, default=DEFAULT_PATH)
