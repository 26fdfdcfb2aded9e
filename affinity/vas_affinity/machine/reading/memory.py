"""Reads on which NUMA nodes processes have their memory."""

from __future__ import annotations

import re
from collections.abc import Iterable

from vas_core.root import Root

_PAGES = re.compile(r"\bN(\d+)=(\d+)")
_PAGE_KB = re.compile(r"\bkernelpagesize_kB=(\d+)")


def memory_shares(root: Root, pids: Iterable[int]) -> dict[int, dict[int, float]]:
    """Returns process -> node -> share of its memory; without processes that cannot be read."""
    shares = {}
    for pid in pids:
        try:
            text = root.read(f"proc/{pid}/numa_maps")
        except OSError:  # EACCES of another user's process; ESRCH of one that just ended
            continue
        kilobytes = _by_node(text or "")
        total = sum(kilobytes.values())
        if total:
            shares[pid] = {node: amount / total for node, amount in kilobytes.items()}
    return shares


def _by_node(text: str) -> dict[int, int]:
    kilobytes: dict[int, int] = {}
    for line in text.splitlines():
        page = _PAGE_KB.search(line)
        for node, pages in _PAGES.findall(line):
            amount = int(pages) * (int(page[1]) if page else 4)
            kilobytes[int(node)] = kilobytes.get(int(node), 0) + amount
    return kilobytes
