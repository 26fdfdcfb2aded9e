"""The content of the files that `vas-affinityd` reads, as one value that can be saved."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from vas_affinity.daemon.settings import AffinitySettings
from vas_affinity.placement import HostPlacement


class DaemonInputs(BaseModel):
    """The plan that a user asked for, and the settings of the daemon."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    plan: HostPlacement
    settings: AffinitySettings
