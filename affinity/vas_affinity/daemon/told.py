"""The content of the files that `vas-affinityd` reads, as one value that can be kept."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from vas_affinity.daemon.settings import Settings
from vas_affinity.placement import Placement


class Told(BaseModel):
    """The plan that a user asked for, and the settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    plan: Placement
    settings: Settings
