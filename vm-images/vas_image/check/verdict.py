"""Judges the report that an image gives on itself. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict

from vas_cluster import Guest
from vas_image.look.rules import ImageRule


class ImageVerdict(BaseModel):
    """An image's report on itself: the line of JSON that `examiner.py` writes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    state: str
    failed: list[str] = []
    failed_log: str = ""
    up_seconds: float = 0.0
    node_seconds: float = 0.0
    node: dict[str, Any] = {}
    hostname: str = ""
    machine_id: str = ""
    cloud_init: str = ""
    seed: str = ""
    addresses: list[str] = []
    java: str = ""
    routed: str = ""
    classes: str = ""
    root_bytes: int = 0


def judge(verdict: ImageVerdict, guest: Guest, *, agent: bool, off: bool) -> list[ImageRule]:
    """Checks the rules for an image that has booted as a guest.

    `agent`: the guest agent answered; `off`: the machine turned itself off.
    """
    ended = ImageRule("it turns itself off", off, "yes" if off else "not in time")
    return [*_rules(verdict, guest, agent), ended]


def _rules(found: ImageVerdict, guest: Guest, agent: bool) -> Iterator[ImageRule]:
    failed = ", ".join(found.failed) or "no unit failed"
    yield ImageRule("the system runs", found.state == "running", f"{found.state}, {failed}")
    yield ImageRule("cloud-init read the seed", found.cloud_init == "done", found.cloud_init or "-")
    yield ImageRule(
        "cloud-init's schema takes the seed", found.seed.startswith("Valid"), found.seed
    )
    yield ImageRule("it has the seed's name", found.hostname == guest.name, found.hostname or "-")
    yield ImageRule("it has a machine-id of its own", len(found.machine_id) == 32, found.machine_id)
    has = [line.split()[0] for line in found.addresses if f"{guest.address}/" in line]
    yield ImageRule("it has the seed's address", bool(has), ", ".join(has) or "on no NIC")
    healthy = found.node.get("nodeHealthy") is True
    version = found.node.get("hadoopVersion") or found.node.get("log") or found.node.get("why", "")
    yield ImageRule("the NodeManager is healthy", healthy, str(version))
    yield ImageRule("VAS's programs start", "Usage" in found.routed, found.routed or "no")
    fits = ": fits; " in found.classes
    yield ImageRule("the archive of classes fits", fits, found.classes or "no answer")
    yield ImageRule("the guest agent answers", agent, "ping" if agent else "no")
