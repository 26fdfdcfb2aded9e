"""Computes how a job's map output is spread over its reducers. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from vas_yarn.shuffle.manifest import OutputManifest


@dataclass(frozen=True)
class ReducerInput:
    """The input of one reducer. `skew` is its stored bytes over the mean of all reducers."""

    partition: int
    maps: int
    segments: int
    records: int
    raw_bytes: int
    stored_bytes: int
    skew: float

    def as_json(self) -> dict[str, object]:
        """Returns the row as `vas shuffle inspect --json` prints it."""
        return asdict(self)


def reducer_inputs(manifests: Iterable[OutputManifest]) -> list[ReducerInput]:
    """Returns a row for each reducer, also for one without input; counts every manifest."""
    known = list(manifests)
    partitions = max((manifest.partitions for manifest in known), default=0)
    sums = [[0, 0, 0, 0, 0] for _ in range(partitions)]
    for manifest in known:
        for partition in {segment.partition for segment in manifest.segments}:
            sums[partition][0] += 1
        for segment in manifest.segments:
            numbers = (1, segment.records, segment.raw_bytes, segment.stored_bytes)
            for column, number in enumerate(numbers, start=1):
                sums[segment.partition][column] += number
    mean = sum(stored for *_, stored in sums) / partitions if partitions else 0
    return [
        ReducerInput(
            partition, maps, segments, records, raw, stored, round(stored / mean, 3) if mean else 0
        )
        for partition, (maps, segments, records, raw, stored) in enumerate(sums)
    ]
