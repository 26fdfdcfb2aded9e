"""Runs Hadoop's examples as workloads: makes input, runs a job, checks output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Protocol, Self

from vas_core.errors import VasError
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.place import JobPlace
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.terasort import TeraSortSizes, job_properties
from vas_yarn.jobs.trees import copy_to_hdfs, inside, readable, remove_tree

_LIBRARY = "org.apache.hadoop.mapreduce.lib"
TEXTS = ("-outKey", "org.apache.hadoop.io.Text", "-outValue", "org.apache.hadoop.io.Text")
_TEXT_OUTPUT = f"{_LIBRARY}.output.TextOutputFormat"


class Data(Protocol):
    """A job and its input, on Lustre or in HDFS. All methods raise VasError when they fail."""

    def generate(self) -> None:
        """Makes the input, in place of what was there."""

    def copy_from(self, made: Self) -> None:
        """Copies the input of the same job on Lustre into HDFS, as this one's."""

    def run(self, arm: Arm) -> JobResult:
        """Runs the job as one arm."""

    def validate(self, arm: Arm) -> str:
        """Returns the checksum of the output, which is removed. Raises VasError if it is wrong."""


class Example:
    """One of Hadoop's examples; its output must be stock's, byte for byte."""

    def __init__(
        self,
        lab: JobPlace,
        directory: str,
        argv: Sequence[str],
        sizes: TeraSortSizes,
        make: Callable[[str], None],
    ) -> None:
        self._lab, self._directory, self._argv, self._make = lab, directory, argv, make
        self._sizes = sizes
        self._properties = job_properties(sizes)

    def generate(self) -> None:
        """Makes the input, in place of what was in the directory."""
        remove_tree(self._lab, self._directory)
        self._make(f"{self._directory}/input")

    def copy_from(self, made: Example) -> None:
        """Copies the input of another example into HDFS, as this one's."""
        source, target = f"{made._directory}/input", f"{self._directory}/input"
        copy_to_hdfs(self._lab, source, target, self._sizes.split_bytes)

    def run(self, arm: Arm) -> JobResult:
        """Runs the job as one arm. Raises VasError when the lab is broken or the job fails."""
        self._lab.refuse_broken()
        remove_tree(self._lab, self._output)
        argv = [*self._argv, f"{self._directory}/input", self._output]
        return self._lab.run_job(argv, self._properties | dict(arm.properties), jars=arm.jars)

    def validate(self, _: Arm) -> str:
        """Returns one SHA-256 over those of all output files, in order; removes the output.

        Raises VasError unless every reducer left one and there is something in them.
        """
        with readable(self._lab, self._output) as there:
            sums = self._lab.call(["sh", "-euc", _DIGEST, "sh", str(there)]).stdout.split()
        files, size_bytes, digest = int(sums[0]), int(sums[1]), sums[2]
        if files != self._sizes.reducers or not size_bytes:
            raise VasError(f"{files} files, {size_bytes} bytes in all", where=self._output)
        remove_tree(self._lab, self._output)
        return digest

    @property
    def _output(self) -> str:
        return f"{self._directory}/output"


_DIGEST = 'cd "$1"; ls part-* | wc -l; cat part-* | wc -c; sha256sum part-* | sha256sum'


def sort(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
    """Returns Hadoop's Sort of random texts, which writes text.

    A sequence file has a random sync mark, so that no two are equal byte for byte.
    """
    formats = ("-inFormat", f"{_LIBRARY}.input.SequenceFileInputFormat", "-outFormat", _TEXT_OUTPUT)
    argv = ("sort", "-r", str(sizes.reducers), *formats, *TEXTS)
    return Example(lab, directory, argv, sizes, random_text(lab, sizes))


def wordcount(
    lab: JobPlace,
    sizes: TeraSortSizes,
    directory: str,
    program: Sequence[str] = ("wordcount",),
    *,
    files: int | None = None,
) -> Example:
    """Returns Hadoop's WordCount of random text, or another `program` that reads such text.

    The text has a file for each map if not so many `files`.
    """
    make = random_text(lab, sizes, "-outFormat", _TEXT_OUTPUT, files=files)
    return Example(lab, directory, program, sizes, make)


def random_text(
    lab: JobPlace, sizes: TeraSortSizes, *options: str, files: int | None = None
) -> Callable[[str], None]:
    """Returns a function that writes random texts into a directory, `files` or one for each map."""
    amount = {
        "mapreduce.randomtextwriter.totalbytes": str(sizes.size_bytes),
        "mapreduce.randomtextwriter.bytespermap": str(sizes.size_bytes // (files or sizes.maps)),
    }
    properties = job_properties(sizes) | amount

    def make(directory: str) -> None:
        lab.run_job(["randomtextwriter", *options, directory], properties)

    return make


def secondary_sort(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
    """Returns SecondarySort of random pairs, a file for each map."""

    def make(inputs: str) -> None:
        there = inside(lab, inputs)
        lab.call(["mkdir", "-p", str(there)])
        for number in range(sizes.maps):
            words = (str(there / f"pairs-{number}"), str(sizes.size_bytes // sizes.maps))
            argv = [sys.executable, "-P", "-m", "vas_bench.run.pairs", *words, str(number)]
            lab.call(argv)

    return Example(lab, directory, ("secondarysort",), sizes, make)
