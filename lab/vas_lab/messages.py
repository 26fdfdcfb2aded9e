"""Defines the messages that a lab's starter sends to the programs inside, on their stdin."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict

DETACH = b"detach\n"
"""Tells the supervisor to live on when its starter ends."""


class JobRequest(BaseModel):
    """A Hadoop program to run: `main` is the class and its arguments, `properties` its jobs'.

    `log` is the file for its output. `jars` come before Hadoop's on its client's class path.
    """

    model_config = ConfigDict(extra="forbid")

    main: tuple[str, ...]
    properties: dict[str, str]
    log: Path
    jars: tuple[Path, ...] = ()
