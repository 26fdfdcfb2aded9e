"""Compares the records that clients read with those that were written. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from vas_bench.fetch.request import PartitionSum


class ClientSum(PartitionSum):
    """The sum of the records that one client read, and how many it wrote to its disk meanwhile."""

    spilled: int


def parse_sum(line: str) -> ClientSum:
    """Parses a client's line. Raises pydantic's ValidationError for another one."""
    return ClientSum.model_validate_json(line)


def wrong_sums(expected: Sequence[PartitionSum], read: Sequence[ClientSum]) -> str:
    """Returns the first difference between what was read and written, in words; empty if none.

    `expected` has a sum for each partition; the n-th of `read` is of partition n modulo their
    number.
    """
    for number, found in enumerate(read):
        partition = number % len(expected)
        wanted = expected[partition]
        if (found.records, found.bytes, found.sum) != (wanted.records, wanted.bytes, wanted.sum):
            return (
                f"partition {partition}: {found.records} records with sum {found.sum} were read, "
                f"{wanted.records} with sum {wanted.sum} were written"
            )
    return ""
