"""Byte ranges with their owners: OST, OSS and VM."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vas_layout.model import Layout
from vas_layout.owners import OstOwners, Owner, Source
from vas_layout.ownership import owned_bytes, runs


@dataclass(frozen=True)
class Placement:
    """A run of bytes and who owns it. `reason` says why something is not known."""

    offset: int
    length: int
    ost: int | None
    oss: str | None
    vm: str | None
    source: Source
    reason: str | None


@dataclass(frozen=True)
class Share:
    """What one VM (or, without one, an OSS or nobody known) owns of a set of files."""

    oss: str | None
    vm: str | None
    owned_bytes: int


def placements(layout: Layout, offset: int, length: int, owners: OstOwners) -> Iterator[Placement]:
    """The owners of a byte range, in order and without a gap."""
    for run in runs(layout, offset, length):
        owner = owners.owner(run.ost_idx) if run.ost_idx is not None else _NOBODY
        vm, why_not = _vm(owner)
        reason = run.reason or why_not
        oss = owner.host.name if owner.host else None
        yield Placement(run.offset, run.length, run.ost_idx, oss, vm, owner.source, reason)


class Locality:
    """Adds up what each VM owns of several files."""

    def __init__(self, owners: OstOwners) -> None:
        self._owners = owners
        self._shares: dict[tuple[str | None, str | None], int] = {}

    def add(self, layout: Layout, length: int) -> None:
        """Counts a file of `length` bytes."""
        for index, share in owned_bytes(layout, 0, length).items():
            owner = self._owners.owner(index) if index is not None else _NOBODY
            key = (owner.host.name if owner.host else None, _vm(owner)[0])
            self._shares[key] = self._shares.get(key, 0) + share

    def shares(self) -> list[Share]:
        """Each owner's bytes, the largest first."""
        found = [Share(oss, vm, size) for (oss, vm), size in self._shares.items()]
        return sorted(
            found, key=lambda share: (-share.owned_bytes, share.vm or "", share.oss or "")
        )

    def balance(self) -> float:
        """The largest VM's bytes over the mean of all VMs that own some: 1.0 is even."""
        sizes = [share.owned_bytes for share in self.shares() if share.vm]
        return max(sizes) * len(sizes) / sum(sizes) if sizes else 0.0


_NOBODY = Owner(None, Source.UNKNOWN)


def _vm(owner: Owner) -> tuple[str | None, str | None]:
    if owner.host is None:
        return None, "the OST's server is not in the map"
    if owner.host.guest is None:
        return None, "the server has no VM in the map"
    return owner.host.guest.name, None
