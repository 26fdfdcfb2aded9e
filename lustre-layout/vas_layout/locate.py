"""Finds the owners of byte ranges: OST, OSS and VM."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from vas_layout.model import Layout
from vas_layout.owners import OstOwners, Owner, Source
from vas_layout.ownership import StripeSpan, owned_bytes, plain_at, stripe_spans, unowned_reason

SPREAD = "no VM owns more than half: `vas layout fix` gives each split one owner"


@dataclass(frozen=True)
class OwnedSpan:
    """Bytes [offset, offset + length) of a file with their OST, OSS and VM.

    OST, OSS or VM is None if it is not known; then `reason` says why.
    """

    offset: int
    length: int
    ost: int | None
    oss: str | None
    vm: str | None
    source: Source
    reason: str | None


@dataclass(frozen=True)
class OwnerShare:
    """The bytes of a set of files that one VM owns.

    `vm` is None for bytes of an OSS without a VM, `oss` too for bytes of an unknown owner.
    """

    oss: str | None
    vm: str | None
    owned_bytes: int


def owned_spans(layout: Layout, offset: int, length: int, owners: OstOwners) -> Iterator[OwnedSpan]:
    """Yields the spans of a byte range with their owners, in order and without a gap."""
    for span in stripe_spans(layout, offset, length):
        yield _owned_span(span, owners)


def main_owner(parts: Sequence[OwnedSpan]) -> OwnedSpan:
    """Returns all parts as one span, with the VM that owns more than half of the bytes.

    The file system reports this VM to YARN for a block of these parts; if there is none, `vm` is
    None and `reason` says why. `ost` is None if the VM's parts are on several OSTs. `parts` must
    not be empty.
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
    return OwnedSpan(
        parts[0].offset,
        total,
        osts.pop() if len(osts) == 1 else None,
        servers.pop() if len(servers) == 1 else None,
        vm,
        chosen[0].source,
        None if vm else _why_no_vm(parts, total - owned.total()),
    )


def split_owners(
    layout: Layout, size: int, split: int, owners: OstOwners, *, offset: int, length: int
) -> Iterator[OwnedSpan]:
    """Yields the splits of a file of `size` bytes that lie in a range, each with its main owner.

    A split has `split` bytes, counted from byte 0; the file's end cuts the last one. The range
    cuts the returned offset and length, but the owner is that of the whole split, as YARN asks
    for whole splits. The time for each depends on the number of objects.
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
) -> OwnedSpan | None:
    """Returns the byte at `offset` of a file of `size` bytes, with the main owner of its block.

    None past the file's end. `block` is the block size in bytes.
    """
    found = split_owners(layout, size, block, owners, offset=offset, length=1)
    return next(found, None)


def block_size(layout: Layout, size: int, *, normal: int, smallest: int) -> int:
    """Returns the block size in bytes that the file system reports for a file of `size` bytes.

    `normal` is `vas.lustre.block-size`, `smallest` is `vas.lustre.min-block-size`: see
    docs/filesystem.md.
    """
    smallest = min(normal, smallest)
    last = plain_at(layout, size - 1) if size > smallest else None
    if last is None or len(last.objects) < 2 or last.stripe_size < smallest:
        return normal
    return last.stripe_size


def owned_shares(layout: Layout, offset: int, length: int, owners: OstOwners) -> list[OwnedSpan]:
    """Returns the bytes of a range that each OST has, as spans that all begin at `offset`.

    The time depends on the number of objects, not on the number of stripes.
    """
    shares = owned_bytes(layout, offset, length)
    parts = [
        _owned_span(StripeSpan(offset, size, ost), owners) for ost, size in shares.items() if size
    ]
    if shares[None]:
        why = unowned_reason(layout, offset, length)
        parts = [replace(p, reason=why) if p.ost is None else p for p in parts]
    return parts


def _split_owner(layout: Layout, start: int, length: int, owners: OstOwners) -> OwnedSpan:
    return main_owner(owned_shares(layout, start, length, owners))


def _why_no_vm(parts: Sequence[OwnedSpan], without_vm: int) -> str | None:
    if 2 * without_vm < sum(part.length for part in parts):
        return SPREAD
    return max((p for p in parts if p.vm is None), key=lambda part: part.length).reason


def _owned_span(span: StripeSpan, owners: OstOwners) -> OwnedSpan:
    owner = owners.owner(span.ost_idx) if span.ost_idx is not None else _NOBODY
    vm, why_not = _vm(owner, span.ost_idx)
    reason = span.reason or why_not
    oss = owner.host.name if owner.host else None
    return OwnedSpan(span.offset, span.length, span.ost_idx, oss, vm, owner.source, reason)


class OwnershipTotals:
    """Adds up the bytes that each VM owns of several files."""

    def __init__(self, owners: OstOwners) -> None:
        self._owners = owners
        self._shares: dict[tuple[str | None, str | None], int] = {}

    def add(self, layout: Layout, length: int) -> None:
        """Adds the bytes of a file of `length` bytes to its owners."""
        for index, share in owned_bytes(layout, 0, length).items():
            owner = self._owners.owner(index) if index is not None else _NOBODY
            key = (owner.host.name if owner.host else None, _vm(owner, index)[0])
            self._shares[key] = self._shares.get(key, 0) + share

    def shares(self) -> list[OwnerShare]:
        """Returns the bytes of each owner, the largest first."""
        found = [OwnerShare(oss, vm, size) for (oss, vm), size in self._shares.items()]
        return sorted(
            found, key=lambda share: (-share.owned_bytes, share.vm or "", share.oss or "")
        )

    def balance(self) -> float:
        """Returns the largest VM's bytes over the mean of all owning VMs; 1.0 is even, 0.0 none."""
        sizes = [share.owned_bytes for share in self.shares() if share.vm]
        return max(sizes) * len(sizes) / sum(sizes) if sizes else 0.0


_NOBODY = Owner(None, Source.UNKNOWN)


def _vm(owner: Owner, ost: int | None) -> tuple[str | None, str | None]:
    if owner.host is None or ost is None:
        return None, "the OST's server is not in the map"
    guest = owner.host.guest_for(ost)
    return (guest.name, None) if guest else (None, "the server has no VM in the map")
