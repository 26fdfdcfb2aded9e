"""Reads NUMA nodes from sysfs: memory, distances, huge pages."""

from __future__ import annotations

import re

from vas_affinity.machine.reading.files import TreeFiles
from vas_affinity.machine.topology import NumaNode

NODES = "sys/devices/system/node"
_TOTAL = re.compile(r"MemTotal:\s+(\d+) kB")
_PAGES = re.compile(r"hugepages-(\d+)kB")


def read_nodes(files: TreeFiles) -> tuple[tuple[NumaNode, ...], dict[int, int]]:
    """Returns the nodes, and CPU -> node. A kernel without NUMA has one node with all memory."""
    found = (re.fullmatch(r"node(\d+)", name) for name in files.names(NODES))
    numbers = sorted(int(match[1]) for match in found if match)
    if not numbers:
        return (_whole(files),), _all_on_one(files)
    node_of = {
        cpu: number
        for number in reversed(numbers)
        for cpu in files.cpus(f"{NODES}/node{number}/cpulist", f"{NODES}/node{number}/cpumap") or ()
    }
    return tuple(_node(files, number, numbers) for number in numbers), node_of


def _node(files: TreeFiles, number: int, numbers: list[int]) -> NumaNode:
    at = f"{NODES}/node{number}"
    distances = [int(text) for text in (files.text(f"{at}/distance") or "").split()]
    return NumaNode(
        number=number,
        memory_bytes=_total_bytes(files, f"{at}/meminfo"),
        distances=dict(zip(numbers, distances, strict=False)),
        huge_pages=_huge_pages(files, f"{at}/hugepages"),
    )


def _whole(files: TreeFiles) -> NumaNode:
    return NumaNode(
        number=0,
        memory_bytes=_total_bytes(files, "proc/meminfo"),
        distances={0: 10},
        huge_pages=_huge_pages(files, "sys/kernel/mm/hugepages"),
    )


def _all_on_one(files: TreeFiles) -> dict[int, int]:
    names = (re.fullmatch(r"cpu(\d+)", name) for name in files.names("sys/devices/system/cpu"))
    return {int(match[1]): 0 for match in names if match}


def _total_bytes(files: TreeFiles, path: str) -> int:
    text = files.text(path)
    match = _TOTAL.search(text or "")
    if match is None:
        files.note(path, "has no MemTotal")
    return int(match[1]) << 10 if match else 0


def _huge_pages(files: TreeFiles, at: str) -> dict[int, int]:
    matches = (_PAGES.fullmatch(name) for name in files.names(at))
    counts = {
        int(match[1]) << 10: files.number(f"{at}/{match[0]}/nr_hugepages") or 0
        for match in matches
        if match
    }
    return dict(sorted(counts.items()))
