"""Finds the block that holds a split's start: by its owner MapReduce asked YARN for a node."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vas_cluster import Cluster
from vas_core.errors import VasError
from vas_core.sizes import parse_size
from vas_layout.locate import OwnedSpan, block_owner, block_size, owned_shares
from vas_layout.owners import OstOwners
from vas_layout.paths import size_of
from vas_layout.store import LayoutReader
from vas_yarn.history import Split

# The plugin's own defaults (docs/configuration.md).
_BLOCK_SIZE = ("vas.lustre.block-size", "128m")
_SMALLEST = ("vas.lustre.min-block-size", "16m")


class Blocks:
    """Finds the owners of one job's splits. `properties` are the job's, property -> value.

    Raises BadInput for a block size in them that is not a size.
    """

    def __init__(
        self, cluster: Cluster, properties: Mapping[str, str], reader: LayoutReader
    ) -> None:
        self._mount = Path(cluster.lustre.mount)
        self._owners = OstOwners(cluster)
        self._reader = reader
        self._normal = parse_size(properties.get(*_BLOCK_SIZE))
        self._smallest = parse_size(properties.get(*_SMALLEST))

    def of(self, split: Split) -> tuple[list[OwnedSpan], OwnedSpan | None]:
        """Returns an owned span for each OST's bytes of a split, and the block at its start.

        The block is None if the file has none there. Raises VasError for a file that is gone or
        whose layout cannot be read.
        """
        path = self._mount / split.path.lstrip("/")
        if ".." in path.parts:  # a path of Hadoop has none; a job's log may hold anything
            raise VasError("leads out of the mount", where=str(path))
        layout, size = self._reader.read(path), size_of(path)
        length = max(0, min(split.length, size - split.offset))
        parts = owned_shares(layout, split.offset, length, self._owners)
        unit = block_size(layout, size, normal=self._normal, smallest=self._smallest)
        return parts, block_owner(layout, size, unit, self._owners, offset=split.offset)
