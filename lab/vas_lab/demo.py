"""The main job, three ways on the same data: what `./vas demo` runs.

The arms differ in two properties of the job, nothing else: the same daemons, file system,
data and scheduler configuration serve all three.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from vas_core.errors import BadInput, VasError
from vas_core.progress import Step, Steps
from vas_core.sizes import format_size
from vas_lab.disk import check_disk, free_bytes, used_bytes
from vas_lab.job import JobResult
from vas_lab.lab import Lab

ROW_BYTES = 100
_MIN_SPLIT_BYTES = 16 << 20
_MAX_MAPS = 48
_STRIPE_ALIGNMENT_BYTES = 64 << 10
_DIRECTORY = "/demo"
_INPUT = f"{_DIRECTORY}/input"
_INPUT_BYTES = "BYTES_READ"
_LOCAL_BYTES = "LUSTRE-LOCAL_BYTES_READ"
_CHECKSUM = "CHECKSUM"
_CHECKSUM_BITS = 64
# At an arm's end: the input, the maps' output, what the reducers fetched of it, the output.
COPIES = 4
WHAT_IT_SHOWS = (
    "DATA-LOCAL and FROM LOCAL OST are what differs. JOB s and CPU s compare nothing here: all "
    "OSTs lie on one local disk, so a remote read costs no more than a local one."
)


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


def check_room(size_bytes: int, state_dir: Path) -> None:
    """Raises BadInput when the arms do not fit on the disk; what they replace counts as free."""
    old = (state_dir / f"lustre/data{_DIRECTORY}", state_dir / "nodes")
    free = free_bytes(state_dir) + sum(map(used_bytes, old))
    check_disk(free, size=size_bytes, copies=COPIES)


START = "start the lab"
GENERATE = "TeraGen"


def steps() -> list[Step]:
    """The steps of the demo, with the seconds they took on two busy cores."""
    arms = [step for arm in ARMS for step in (Step(_sort(arm), 40), Step(_validate(arm), 15))]
    return [Step(START, 25), Step(GENERATE, 20), *arms]


def _sort(arm: Arm) -> str:
    return f"TeraSort, {arm.name}"


def _validate(arm: Arm) -> str:
    return f"TeraValidate, {arm.name}"


def run_arms(lab: Lab, sizes: Sizes, progress: Steps) -> Iterator[ArmResult]:
    """Makes the data, then runs each arm on it. Raises VasError when an output is not right."""
    _remove_tree(lab, _DIRECTORY)
    with progress.step(GENERATE):
        made = lab.run_job(["teragen", str(sizes.rows), _INPUT], _properties(sizes))
    for arm in ARMS:
        output = f"{_DIRECTORY}/{arm.name.replace(' ', '-')}"
        properties = _properties(sizes) | dict(arm.properties)
        lab.refuse_broken()
        with progress.step(_sort(arm)):
            sorted_ = lab.run_job(["terasort", _INPUT, output], properties)
        with progress.step(_validate(arm)):
            lab.run_job(["teravalidate", output, f"{output}-report"], properties)
            checksum = _checksum(lab, f"{output}-report", made)
        _remove_tree(lab, output)
        lab.refuse_broken()
        yield _result(arm, sorted_, checksum)


def _properties(sizes: Sizes) -> dict[str, str]:
    return {
        "vas.lustre.block-size": str(sizes.split_bytes),
        "mapreduce.job.maps": str(sizes.generators),
        "mapreduce.job.reduces": str(sizes.reducers),
        # Guests this small have no room for reducers that wait beside maps that run.
        "mapreduce.job.reduce.slowstart.completedmaps": "1.0",
        # A second attempt of a slow map would be counted as one more map, somewhere else.
        "mapreduce.map.speculative": "false",
        "mapreduce.reduce.speculative": "false",
        # An output is written by the server it is for, once: TeraSort's own default is 10 copies.
        "mapreduce.terasort.output.replication": "1",
    }


def _result(arm: Arm, job: JobResult, checksum: str) -> ArmResult:
    return ArmResult(
        name=arm.name,
        data_local_maps=job.data_local_maps,
        rack_local_maps=job.rack_local_maps,
        other_maps=job.other_maps,
        total_maps=job.total_maps,
        local_input_bytes=job.counter(_LOCAL_BYTES),
        input_bytes=job.counter(_INPUT_BYTES),
        job_seconds=round(job.seconds, 1),
        cpu_seconds=round(job.cpu_seconds, 1),
        checksum=checksum,
    )


def _checksum(lab: Lab, report: str, made: JobResult) -> str:
    """TeraValidate's checksum, which it prints only for rows in order.

    TeraGen counted the same sum, of which a counter keeps the lowest 64 bits.
    """
    text = lab.call(["cat", str(_inside(lab, report) / "part-r-00000")]).stdout
    words = text.split()
    if len(words) != 2 or words[0] != "checksum":
        raise VasError(f"TeraValidate found errors:\n{text.strip()}", where=report)
    mask = (1 << _CHECKSUM_BITS) - 1
    if int(words[1], 16) & mask != made.counter(_CHECKSUM) & mask:
        raise VasError(f"rows were lost or changed: checksum {words[1]}", where=report)
    return words[1]


def _inside(lab: Lab, path: str) -> Path:
    return Path(lab.spec.cluster.lustre.mount) / path.lstrip("/")


def _remove_tree(lab: Lab, path: str) -> None:
    lab.call(["rm", "-rf", "--", str(_inside(lab, path))])
