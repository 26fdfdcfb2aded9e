"""The messages of a lab's starter to the programs inside, on their stdin."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

DETACH = b"detach\n"
"""Tells the supervisor to live on when its starter ends."""


class JobRequest(BaseModel):
    """A Hadoop program: `java` arguments after the class path, and properties for its jobs.

    `jars` are on the client's class path before Hadoop's.
    """

    model_config = ConfigDict(extra="forbid")

    main: tuple[str, ...]
    properties: dict[str, str]
    log: Path
    jars: tuple[Path, ...] = ()
