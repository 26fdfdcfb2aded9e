"""A host's plan for its guests. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from vas_affinity.guest_plan.request import GuestRequest
from vas_affinity.guest_plan.settings import GuestSettings
from vas_affinity.placement import Placement
from vas_affinity.snapshot import Snapshot


def plan_guests(
    snapshot: Snapshot, requests: Sequence[GuestRequest], settings: GuestSettings | None = None
) -> Placement:
    """Where the guests' vCPUs, emulators, iothreads and memory are to be, each with its reason.

    The same input gives the same plan. Raises BadInput, saying what would fit, for guests that
    leave the storage server and its host too little.
    """
    raise NotImplementedError
