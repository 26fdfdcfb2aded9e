"""The main job, three ways on the same data: what `./vas demo` runs.

The arms differ in two properties of the job, nothing else: the same daemons, file system,
data and scheduler configuration serve all three.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

ROW_BYTES = 100
_MIN_SPLIT_BYTES = 16 << 20
_MAX_MAPS = 48
_STRIPE_ALIGNMENT_BYTES = 64 << 10
_INPUT = "/demo/input"

_FILE_INPUT = "org.apache.hadoop.mapreduce.lib.input.FileInputFormatCounter"
_FILE_SYSTEMS = "org.apache.hadoop.mapreduce.FileSystemCounter"
_JOB = "org.apache.hadoop.mapreduce.JobCounter"


@dataclass(frozen=True)
class Arm:
    """One way of running the job. `properties` is all that sets it apart."""

    name: str
    explanation: str
    properties: Mapping[str, str]


_PLACEMENT_OFF = {"mapreduce.job.tags": "vas-placement-off"}
ARMS = (
    Arm(
        "YARN-Lustre",
        "the file system answers no hosts, as any shared file system does",
        {"vas.locations": "none", **_PLACEMENT_OFF},
    ),
    Arm("real hosts", "it answers each stripe's VM; YARN's scheduler as it is", _PLACEMENT_OFF),
    Arm("VAS", "it answers each stripe's VM, and the placement plugin waits for it", {}),
)


@dataclass(frozen=True)
class ArmResult:
    """What one arm did. Bytes and maps are TeraSort's; the checksum is TeraValidate's."""

    name: str
    data_local_maps: int
    rack_local_maps: int
    other_maps: int
    total_maps: int
    local_input_bytes: int
    input_bytes: int
    job_seconds: float
    cpu_seconds: float
    checksum: str

    def as_json(self) -> dict[str, object]:
        """The arm as `vas demo --json` prints it."""
        return asdict(self)


@dataclass(frozen=True)
class Sizes:
    """How the data is cut: rows of 100 bytes, splits that are stripes, one reducer per host."""

    rows: int
    split_bytes: int
    generators: int
    reducers: int

    @classmethod
    def of(cls, size_bytes: int, hosts: int) -> Sizes:
        """16 MiB splits; larger ones where that would make more than 48 maps.

        Raises BadInput for less than a split a host: then there is no locality to show.
        """
        if size_bytes < hosts * _MIN_SPLIT_BYTES:
            raise BadInput(
                f"{format_size(size_bytes)} are too few for {hosts} hosts",
                where="--size",
                hint=f"give at least {format_size(hosts * _MIN_SPLIT_BYTES)}",
            )
        even = -(-size_bytes // _MAX_MAPS)
        aligned = -(-even // _STRIPE_ALIGNMENT_BYTES) * _STRIPE_ALIGNMENT_BYTES
        return cls(size_bytes // ROW_BYTES, max(_MIN_SPLIT_BYTES, aligned), hosts, hosts)
