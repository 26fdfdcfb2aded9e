"""Byte ranges with their owners: OST, OSS and VM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vas_layout.model import Layout
from vas_layout.owners import OstOwners, Owner, Source
from vas_layout.ownership import Run, owned_bytes, plain_at, runs

SPREAD = "no VM owns more than half: `vas layout fix` gives each split one owner"


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
        yield _placement(run, owners)


def main_owner(parts: Sequence[Placement]) -> Placement:
    """The bytes of all parts as one, with the VM that owns more than half of them.

    That VM is the one that the file system names to YARN for a block of these parts; where there
    is none, `reason` says why. `ost` is None where the VM's parts are on several. `parts` is not
    empty.
    """
    total = sum(part.length for part in parts)
    owned: Counter[str] = Counter()
    for part in parts:
        if part.vm:
            owned[part.vm] += part.length
    vm = next((vm for vm, size in owned.items() if 2 * size > total), None)
    chosen = [part for part in parts if part.vm == vm] if vm else list(parts)
    osts = {part.ost for part in chosen}
    servers = {part.oss for part in chosen}
    return Placement(
        parts[0].offset,
        total,
        osts.pop() if len(osts) == 1 else None,
        servers.pop() if len(servers) == 1 else None,
        vm,
        chosen[0].source,
        None if vm else _why_no_vm(parts, total - owned.total()),
    )


def split_placements(
    layout: Layout, size: int, split: int, owners: OstOwners, *, offset: int, length: int
) -> Iterator[Placement]:
    """The splits of a file of `size` bytes that lie in a range, each with its main owner.

    A split has `split` bytes, counted from byte 0; the file's end cuts the last one. The range
    cuts the offset and length that are given, not the bytes that the owner is judged by: YARN is
    told of whole splits. The time of each depends on the number of objects.
    """
    end = min(offset + length, size)
    if end <= offset:
        return
    for border in range(offset // split * split, end, split):
        start, stop = max(border, offset), min(border + split, end)
        owner = _split_owner(layout, border, min(split, size - border), owners)
        yield replace(owner, offset=start, length=stop - start)


def block_owner(
    layout: Layout, size: int, block: int, owners: OstOwners, *, offset: int
) -> Placement | None:
    """The byte at `offset` of a file of `size` bytes, with the main owner of its whole block.

    None past the file's end. `block` is the block size in bytes.
    """
    found = split_placements(layout, size, block, owners, offset=offset, length=1)
    return next(found, None)


def block_size(layout: Layout, size: int, *, normal: int, smallest: int) -> int:
    """The block size that the file system reports for a file of `size` bytes.

    `normal` is `vas.lustre.block-size`, `smallest` is `vas.lustre.min-block-size`: see
    docs/filesystem.md.
    """
    smallest = min(normal, smallest)
    last = plain_at(layout, size - 1) if size > smallest else None
    if last is None or len(last.objects) < 2 or last.stripe_size < smallest:
        return normal
    return last.stripe_size


def _split_owner(layout: Layout, start: int, length: int, owners: OstOwners) -> Placement:
    shares = owned_bytes(layout, start, length)
    parts = [_placement(Run(start, size, ost), owners) for ost, size in shares.items() if size]
    if shares[None]:
        lost = next(run for run in runs(layout, start, length) if run.reason)
        parts = [replace(p, reason=lost.reason) if p.ost is None else p for p in parts]
    return main_owner(parts)


def _why_no_vm(parts: Sequence[Placement], without_vm: int) -> str | None:
    if 2 * without_vm < sum(part.length for part in parts):
        return SPREAD
    return max((p for p in parts if p.vm is None), key=lambda part: part.length).reason


def _placement(run: Run, owners: OstOwners) -> Placement:
    owner = owners.owner(run.ost_idx) if run.ost_idx is not None else _NOBODY
    vm, why_not = _vm(owner, run.ost_idx)
    reason = run.reason or why_not
    oss = owner.host.name if owner.host else None
    return Placement(run.offset, run.length, run.ost_idx, oss, vm, owner.source, reason)


class Locality:
    """Adds up what each VM owns of several files."""

    def __init__(self, owners: OstOwners) -> None:
        self._owners = owners
        self._shares: dict[tuple[str | None, str | None], int] = {}

    def add(self, layout: Layout, length: int) -> None:
        """Counts a file of `length` bytes."""
        for index, share in owned_bytes(layout, 0, length).items():
            owner = self._owners.owner(index) if index is not None else _NOBODY
            key = (owner.host.name if owner.host else None, _vm(owner, index)[0])
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


def _vm(owner: Owner, ost: int | None) -> tuple[str | None, str | None]:
    if owner.host is None or ost is None:
        return None, "the OST's server is not in the map"
    guest = owner.host.guest_for(ost)
    return (guest.name, None) if guest else (None, "the server has no VM in the map")
