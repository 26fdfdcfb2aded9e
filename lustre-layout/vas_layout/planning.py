"""Plans stripes so that every input split lies on one OST. Pure. All sizes in bytes."""

from __future__ import annotations

from dataclasses import dataclass

from vas_core.errors import BadInput
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_layout.model import ALL_OSTS, MAX_STRIPES, STRIPE_ALIGNMENT, Layout
from vas_layout.ownership import borders

_MAX_STRIPE_SIZE = (1 << 32) - STRIPE_ALIGNMENT


@dataclass(frozen=True)
class StripePlan:
    """Planned stripes of one file; a `stripe_count` of -1 means all OSTs."""

    file_size: int
    stripe_size: int
    stripe_count: int
    pool: str | None
    reasons: tuple[str, ...]

    @property
    def splits(self) -> int:
        """The number of splits: one per stripe, the last perhaps shorter."""
        return -(-self.file_size // self.stripe_size)

    @property
    def lfs_arguments(self) -> list[str]:
        """The stripes as arguments of `lfs setstripe` or `lfs migrate`."""
        pool = ["-p", self.pool] if self.pool else []
        return ["-S", str(self.stripe_size), "-c", str(self.stripe_count), *pool]


def plan_stripes(
    file_size: int, split_size: int, osts: int | None, pool: str | None = None
) -> StripePlan:
    """Returns a plan of one stripe per split, over `osts` OSTs (None: all).

    Raises BadInput if no stripe can be as long as a split, or if an argument is out of range.
    """
    if file_size < 0 or split_size < 1:
        raise BadInput("the size must not be negative and the split must not be empty")
    if osts is not None and osts < 1:
        raise BadInput(f"{osts} OSTs cannot hold a file", hint="give at least one")
    if split_size > _MAX_STRIPE_SIZE:
        raise BadInput(
            f"a split of {format_size(split_size)} is larger than the largest stripe",
            hint="stripes end below 4 GiB: use smaller splits",
        )
    if split_size % STRIPE_ALIGNMENT:
        aligned = -(-split_size // STRIPE_ALIGNMENT) * STRIPE_ALIGNMENT
        raise BadInput(
            f"{split_size} bytes are not a multiple of 64 KiB, as every stripe is",
            where="--split",
            hint=f"give --split {aligned}, and the job the same split"
            " (mapreduce.input.fileinputformat.split.minsize and .maxsize)",
        )
    splits = -(-file_size // split_size)
    limit = min(osts or MAX_STRIPES, MAX_STRIPES)
    count = ALL_OSTS if osts is None and splits > 1 else max(1, min(splits, limit))
    reasons = tuple(_reasons(split_size, splits, count, pool))
    return StripePlan(file_size, split_size, count, pool, reasons)


def _reasons(split_size: int, splits: int, count: int, pool: str | None) -> list[str]:
    said = [f"stripe size = split size = {format_size(split_size)}: a map reads from one OST only"]
    of_pool = f" of pool {pool}" if pool else ""
    if count == ALL_OSTS:
        said.append(f"{counted(splits, 'split')} over all OSTs{of_pool}")
    else:
        low, extra = divmod(splits, count)
        share = f"{low} to {low + 1}" if extra else str(low)
        places = f"{counted(splits, 'split')} over {counted(count, 'OST')}{of_pool}"
        said.append(f"{places}: {share} each")
    return said


def first_broken_split(layout: Layout, file_size: int, split_size: int) -> int | None:
    """Returns the first offset where the owner changes within a split; None if no split breaks.

    A split is whole if all its bytes have one owner, whatever the stripe size is.
    """
    found = borders(layout, file_size, split_size)
    return next((border for border in found if border % split_size), None)
