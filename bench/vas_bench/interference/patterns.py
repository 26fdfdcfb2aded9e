"""The arms, the clients' patterns and the paper's figures. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ArmName = Literal["alone", "host", "guest", "emulated"]
Direction = Literal["read", "write"]

ALONE: ArmName = "alone"
EMULATED: ArmName = "emulated"


@dataclass(frozen=True)
class Pattern:
    """A way in which clients read or write; `rw` is fio's word for it."""

    name: str
    rw: str
    block: str
    direction: Direction


# The paper does not say how large IOzone's records were. Sequential ones are a bulk RPC's size.
PATTERNS = (
    Pattern("sequential read", "read", "1M", "read"),
    Pattern("random read", "randread", "64K", "read"),
    Pattern("sequential write", "write", "1M", "write"),
    Pattern("random write", "randwrite", "64K", "write"),
)
PATTERN_NAMES = tuple(pattern.name for pattern in PATTERNS)

# Xu's dissertation, section 4.3.1.3 and figure 4.12: 8 storage servers, IOzone from other
# machines, 100 TeraSorts one after another. It gives two numbers, and words for the rest; neither
# runs nor intervals.
_PAPER: dict[tuple[str, str], str] = {
    ("sequential read", "host"): "-11.9 %",
    ("random read", "host"): "-15.2 %",
    ("sequential read", "guest"): "negligible",
    ("random read", "guest"): "negligible",
}


def paper(pattern: str, arm: str) -> str:
    """Returns what the paper says of an arm's bandwidth over that alone; of writes: comparable."""
    return _PAPER.get((pattern, arm), "comparable")
