"""The messages of the loop in the guest. Pure."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from vas_core.documents import parse_json


class GuestMessage(BaseModel):
    """A line of `loop.py`: seconds are of the guest's own clock, which a pause stops too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    at: Literal["up", "made", "maps", "ended", "failed"]
    seconds: float = 0.0
    why: str = ""


def parse(text: str) -> list[GuestMessage]:
    """Returns the messages of all whole lines. Raises BadInput for a line of something else."""
    whole = text[: text.rfind("\n") + 1].splitlines()
    hint = "look at the guest's console"
    return [
        parse_json(
            line.encode(), GuestMessage, kind="word of the guest's", where="guest", hint=hint
        )
        for line in whole
    ]


def job_seconds(said: list[GuestMessage]) -> list[float]:
    """Returns the seconds of the jobs that ended."""
    return [each.seconds for each in said if each.at == "ended"]
