"""The five phases at a place: Apache's TeraGen, TeraSort and TeraValidate, and our data check."""

from __future__ import annotations

from collections.abc import Sequence

from vas_bench.hsph.metric import PHASES
from vas_core.errors import VasError
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.place import JobPlace
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.terasort import ROW_BYTES, TeraSortSizes, checked_rows, job_properties
from vas_yarn.jobs.trees import inside, remove_tree

_PART_SIZES = 'stat -c %s "$1"/part-*'


class PhaseWork:
    """`session.CheckedWork` in a lab or on a site, every phase on the system of the arm."""

    def __init__(self, place: JobPlace, sizes: TeraSortSizes, arm: Arm, directory: str) -> None:
        self._place, self._sizes, self._directory = place, sizes, directory
        self._properties = job_properties(sizes) | dict(arm.properties)
        self._input, self._output = f"{directory}/input", f"{directory}/output"
        self._generated: JobResult | None = None
        work = (self._generate, self._check_input, self._sort, self._check_output, self._validate)
        self._phases = dict(zip(PHASES, work, strict=True))
        self.cpu_seconds = 0.0
        self.checksum = ""

    def clean(self) -> None:
        """Removes all files of the run before. Raises VasError when the place is broken."""
        remove_tree(self._place, self._directory)
        self._place.refuse_broken()
        self._generated, self.cpu_seconds, self.checksum = None, 0.0, ""

    def play(self, phase: str) -> None:
        """Runs one of `metric.PHASES`. Raises VasError when its job fails or its data is wrong."""
        self._phases[phase]()

    def _generate(self) -> None:
        self._generated = self._run("teragen", str(self._sizes.rows), self._input)

    def _check_input(self) -> None:
        self._check(self._input, self._sizes.generators)

    def _sort(self) -> None:
        self._run("terasort", self._input, self._output)

    def _check_output(self) -> None:
        self._check(self._output, self._sizes.reducers)

    def _validate(self) -> None:
        report = f"{self._directory}/report"
        self._run("teravalidate", self._output, report)
        assert self._generated is not None, "phases come in order"
        self.checksum = checked_rows(self._place, report, self._generated)

    def _run(self, *argv: str) -> JobResult:
        job = self._place.run_job(argv, self._properties)
        self.cpu_seconds += job.cpu_seconds
        return job

    def _check(self, directory: str, files: int) -> None:
        there = str(inside(self._place, directory))
        found = self._place.call(["sh", "-euc", _PART_SIZES, "sh", there]).stdout.split()
        check_data([int(size) for size in found], rows=self._sizes.rows, files=files, where=there)


def check_data(file_bytes: Sequence[int], *, rows: int, files: int, where: str) -> None:
    """Raises VasError unless these are the sizes of `files` files that hold `rows` whole rows.

    TPCx-HS's own check lists the directory; this one also adds it up.
    """
    if len(file_bytes) != files:
        raise VasError(f"{len(file_bytes)} files, {files} were to be written", where=where)
    torn = sum(size % ROW_BYTES != 0 for size in file_bytes)
    if torn:
        raise VasError(f"{torn} files end within a row", where=where)
    if sum(file_bytes) != rows * ROW_BYTES:
        found = sum(file_bytes) // ROW_BYTES
        raise VasError(f"{found} rows, {rows} were to be written", where=where)
