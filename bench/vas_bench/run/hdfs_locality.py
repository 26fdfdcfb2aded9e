"""Finds where the maps of a job on HDFS ran, and where their blocks lay.

`python -m vas_bench.run.hdfs_locality --name-node URL JOB`, run where the site is, prints rows as
`vas job locality --json` does, with the keys that `jobs.localities` reads.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from vas_bench.run.times import arguments, asked
from vas_cluster import Cluster, load_site
from vas_yarn.history import History, Split
from vas_yarn.rest import request_json


@dataclass(frozen=True)
class HdfsBlock:
    """A block of a file: its bytes, and the hosts that have a copy."""

    offset: int
    length: int
    hosts: frozenset[str]


def parse_blocks(answer: Mapping[str, Any]) -> list[HdfsBlock]:
    """Returns the blocks of a file from WebHDFS's answer to GETFILEBLOCKLOCATIONS."""
    found = answer["BlockLocations"]["BlockLocation"]
    return [HdfsBlock(b["offset"], b["length"], frozenset(b["hosts"])) for b in found]


def judge(
    node: str, split: Split | None, blocks: Sequence[HdfsBlock], cluster: Cluster
) -> dict[str, object]:
    """Returns a map's row: local, if its node has a copy of the block with its split's start."""
    if split is None:
        return {"ran_on": node, "where": "unknown", "length": None, "local_bytes": 0}
    begin, end = split.offset, split.offset + split.length
    holders = next((b.hosts for b in blocks if b.offset <= begin < b.offset + b.length), None)
    local = sum(
        max(0, min(end, b.offset + b.length) - max(begin, b.offset))
        for b in blocks
        if node in b.hosts
    )
    where = _where(node, holders, cluster)
    return {"ran_on": node, "where": where, "length": split.length, "local_bytes": local}


def _where(node: str, holders: frozenset[str] | None, cluster: Cluster) -> str:
    if holders is None:
        return "unknown"
    if node in holders:
        return "local"
    host = cluster.host_by_guest(node)
    owners = (cluster.host_by_guest(holder) for holder in holders)
    partners = {owner.ha_partner for owner in owners if owner}
    return "partner" if host and host.name in partners else "remote"


def look(history: History, job: str, cluster: Cluster, name_node: str) -> list[dict[str, object]]:
    """Returns the rows of a job that ended; `name_node` is the URL of its web interface.

    Raises VasError when a server does not answer.
    """
    splits = history.splits(history.maps(job))
    paths = {split.path for split in splits.values() if split}
    blocks = {path: parse_blocks(request_json(_url(path, name_node))) for path in paths}
    return [
        judge(attempt.node, split, blocks[split.path] if split else [], cluster)
        for attempt, split in splits.items()
    ]


def _url(path: str, name_node: str) -> str:
    return f"{name_node}/webhdfs/v1{quote(path)}?op=GETFILEBLOCKLOCATIONS"


if __name__ == "__main__":
    parser = arguments()
    parser.add_argument("--name-node", required=True)
    words = parser.parse_args()
    print(json.dumps(look(*asked(words), load_site("run it in a lab"), words.name_node)))
