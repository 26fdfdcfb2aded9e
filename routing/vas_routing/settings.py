"""The numbers of the route switcher that a site may change."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

MAIN_TABLE = 254


class Settings(BaseModel):
    """Which table, protocol and priorities are VAS's own, and when a path counts as dead."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    table: int = Field(default=213, ge=1, le=0xFFFFFFFF, description="VAS's routing table")
    protocol: int = Field(
        default=213, ge=5, le=255, description="the mark of every route and rule that VAS made"
    )
    rule_priority: int = Field(
        default=1000, ge=1, le=32765, description="of the rule that asks that table first"
    )
    fallback_metric: int = Field(
        default=2000, ge=1, description="of the route that the kernel falls back to by itself"
    )
