"""Runs TeraGen, TeraSort and TeraValidate in a lab, to compare the arms of TeraSort."""

from __future__ import annotations

from dataclasses import dataclass

from vas_core.errors import BadInput, VasError
from vas_core.sizes import format_size
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.place import JobPlace, OnEvent
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.trees import copy_to_hdfs, readable, remove_tree

ROW_BYTES = 100
# The plugin's vas.lustre.min-block-size: it reports no smaller stripes as blocks.
MIN_SPLIT_BYTES = 16 << 20
_MAX_MAPS = 48
_STRIPE_ALIGNMENT_BYTES = 64 << 10
_CHECKSUM = "CHECKSUM"
_CHECKSUM_BITS = 64


@dataclass(frozen=True)
class TeraSortSizes:
    """The sizes of the data: rows of 100 bytes, splits as large as stripes, a reducer per host."""

    rows: int
    split_bytes: int
    generators: int
    reducers: int

    @property
    def size_bytes(self) -> int:
        """The bytes of the input: whole rows of 100 bytes."""
        return self.rows * ROW_BYTES

    @property
    def maps(self) -> int:
        """The number of splits that the input would have as one file."""
        return -(-self.size_bytes // self.split_bytes)

    @classmethod
    def of(cls, size_bytes: int, hosts: int) -> TeraSortSizes:
        """Returns sizes with splits of 16 MiB, or larger ones where these would be more than 48.

        Raises BadInput for less than one split per host: locality would not show.
        """
        if size_bytes < hosts * MIN_SPLIT_BYTES:
            raise BadInput(
                f"{format_size(size_bytes)} are too few for {hosts} hosts",
                where="--size",
                hint=f"give at least {format_size(hosts * MIN_SPLIT_BYTES)}",
            )
        even = -(-size_bytes // _MAX_MAPS)
        aligned = -(-even // _STRIPE_ALIGNMENT_BYTES) * _STRIPE_ALIGNMENT_BYTES
        return cls(size_bytes // ROW_BYTES, max(MIN_SPLIT_BYTES, aligned), hosts, hosts)


class TeraSort:
    """A data set in `directory` of a lab; each arm sorts it into an output of its own.

    All methods raise VasError if the lab or a job of it fails.
    """

    def __init__(self, lab: JobPlace, sizes: TeraSortSizes, directory: str) -> None:
        self._lab, self._sizes, self._directory = lab, sizes, directory
        self._input = f"{directory}/input"
        self._generated: JobResult | None = None

    def generate(self) -> None:
        """Replaces the directory's content by new data.

        The files are striped over all OSTs from their first byte, as `vas layout put` makes them:
        so each server holds as many blocks as the others.
        """
        remove_tree(self._lab, self._directory)
        argv = ["teragen", str(self._sizes.rows), self._input]
        plain = {"vas.lustre.progressive": "false"}
        self._generated = self._lab.run_job(argv, job_properties(self._sizes) | plain)

    def copy_from(self, made: TeraSort) -> None:
        """Copies the data of `made` into this data set, which lies in HDFS."""
        copy_to_hdfs(self._lab, made._input, self._input, self._sizes.split_bytes)
        self._generated = made._generated

    def run(self, arm: Arm, *, on_event: OnEvent = lambda _: None) -> JobResult:
        """Sorts the data as one arm and returns the job's result.

        Raises VasError if the lab is broken or the job fails.
        """
        self._lab.refuse_broken()
        argv = ["terasort", self._input, self._output(arm)]
        properties = job_properties(self._sizes) | dict(arm.properties)
        return self._lab.run_job(argv, properties, jars=arm.jars, on_event=on_event)

    def discard(self, arm: Arm) -> None:
        """Removes the sorted output of an arm."""
        remove_tree(self._lab, self._output(arm))

    def validate(self, arm: Arm) -> str:
        """Checks an arm's sorted output, removes it, and returns its checksum.

        TeraValidate runs as stock's job, whatever the arm. Raises VasError if the output is wrong.
        """
        output, report = self._output(arm), f"{self._output(arm)}-report"
        self._lab.run_job(["teravalidate", output, report], job_properties(self._sizes))
        assert self._generated is not None, "generate() comes first"
        checksum = checked_rows(self._lab, report, self._generated)
        remove_tree(self._lab, output)
        remove_tree(self._lab, report)
        self._lab.refuse_broken()
        return checksum

    def _output(self, arm: Arm) -> str:
        return f"{self._directory}/{arm.system}"


def job_properties(sizes: TeraSortSizes) -> dict[str, str]:
    """Returns the properties that all arms give a job on data of these sizes."""
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


def checked_rows(lab: JobPlace, report: str, made: JobResult) -> str:
    """Returns the checksum in TeraValidate's report, which is there only if the rows are sorted.

    `made` is TeraGen's result, with a checksum of the rows it generated. Raises VasError if the
    rows are not sorted, or if the lowest 64 bits of the two checksums differ.
    """
    with readable(lab, report) as there:
        text = lab.call(["cat", str(there / "part-r-00000")]).stdout
    words = text.split()
    if len(words) != 2 or words[0] != "checksum":
        raise VasError(f"TeraValidate found errors:\n{text.strip()}", where=report)
    mask = (1 << _CHECKSUM_BITS) - 1
    if int(words[1], 16) & mask != made.counter(_CHECKSUM) & mask:
        raise VasError(f"rows were lost or changed: checksum {words[1]}", where=report)
    return words[1]
