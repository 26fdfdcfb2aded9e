"""The jobs that are compared: how their input is made, run, and their output checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from vas_bench.arms.rounds import Compared
from vas_core.errors import VasError
from vas_lab.arms import Arm
from vas_lab.job import JobResult
from vas_lab.lab import Lab
from vas_lab.terasort import ROW_BYTES, Sizes, TeraSort, job_properties
from vas_lab.trees import inside, remove_tree

DIRECTORY = "/bench"
MAPS = 8
REDUCERS = 4
_ALIGNMENT_BYTES = 64 << 10
_SMALL_BYTES = 10 << 20
_LIBRARY = "org.apache.hadoop.mapreduce.lib"
_TEXT_OUTPUT = f"{_LIBRARY}.output.TextOutputFormat"


class Data(Compared, Protocol):
    """A job and its input."""

    def generate(self) -> None:
        """Makes the input, in place of what was there."""


@dataclass(frozen=True)
class Job:
    """A job of the table. `data` takes the bytes of its input, which `size` has from --size."""

    title: str
    data: Callable[[Lab, int], Data]
    size: Callable[[int], int] = lambda size_bytes: size_bytes
    against_tez: bool = False


class Example:
    """One of Hadoop's examples, whose output is right if it is, byte for byte, what stock's is."""

    def __init__(
        self, lab: Lab, name: str, argv: Sequence[str], size_bytes: int, make: Callable[[str], None]
    ) -> None:
        self._lab, self._argv, self._make = lab, argv, make
        self._directory = f"{DIRECTORY}/{name}"
        self._properties = job_properties(_sizes(size_bytes, MAPS, REDUCERS))

    def generate(self) -> None:
        """Makes the input, in place of what was in the directory."""
        remove_tree(self._lab, self._directory)
        self._make(f"{self._directory}/input")

    def run(self, arm: Arm) -> JobResult:
        """Runs it in one way. Raises VasError when the lab is broken or the job fails."""
        self._lab.refuse_broken()
        remove_tree(self._lab, self._output)
        argv = [*self._argv, f"{self._directory}/input", self._output]
        return self._lab.run_job(argv, self._properties | dict(arm.properties), jars=arm.jars)

    def validate(self, _: Arm) -> str:
        """The SHA-256 of all output files' own, in order; the output is removed.

        Raises VasError unless every reducer left one and there is something in them.
        """
        there = str(inside(self._lab, self._output))
        sums = self._lab.call(["sh", "-euc", _DIGEST, "sh", there]).stdout.split()
        files, size_bytes, digest = int(sums[0]), int(sums[1]), sums[2]
        if files != REDUCERS or not size_bytes:
            raise VasError(f"{files} files, {size_bytes} bytes in all", where=self._output)
        remove_tree(self._lab, self._output)
        return digest

    @property
    def _output(self) -> str:
        return f"{self._directory}/output"


_DIGEST = 'cd "$1"; ls part-* | wc -l; cat part-* | wc -c; sha256sum part-* | sha256sum'


def _sizes(size_bytes: int, maps: int, reducers: int) -> Sizes:
    """Splits that are a map's share, two to a generated file where there are several."""
    split_bytes = -(-size_bytes // maps // _ALIGNMENT_BYTES) * _ALIGNMENT_BYTES
    return Sizes(size_bytes // ROW_BYTES, split_bytes, max(1, maps // 2), reducers)


def _terasort(lab: Lab, size_bytes: int) -> Data:
    return TeraSort(lab, _sizes(size_bytes, MAPS, REDUCERS), f"{DIRECTORY}/terasort")


def _one_map(lab: Lab, size_bytes: int) -> Data:
    return TeraSort(lab, _sizes(size_bytes, 1, 1), f"{DIRECTORY}/one-map")


def _sort(lab: Lab, size_bytes: int) -> Data:
    formats = ("-inFormat", f"{_LIBRARY}.input.SequenceFileInputFormat", "-outFormat", _TEXT_OUTPUT)
    classes = ("-outKey", "org.apache.hadoop.io.Text", "-outValue", "org.apache.hadoop.io.Text")
    argv = ("sort", "-r", str(REDUCERS), *formats, *classes)
    return Example(lab, "sort", argv, size_bytes, _random_text(lab, size_bytes))


def _wordcount(lab: Lab, size_bytes: int) -> Data:
    make = _random_text(lab, size_bytes, "-outFormat", _TEXT_OUTPUT)
    return Example(lab, "wordcount", ("wordcount",), size_bytes, make)


def _random_text(lab: Lab, size_bytes: int, *options: str) -> Callable[[str], None]:
    """Makes a file for each map."""
    amount = {
        "mapreduce.randomtextwriter.totalbytes": str(size_bytes),
        "mapreduce.randomtextwriter.bytespermap": str(size_bytes // MAPS),
    }
    properties = job_properties(_sizes(size_bytes, MAPS, REDUCERS)) | amount

    def make(directory: str) -> None:
        lab.run_job(["randomtextwriter", *options, directory], properties)

    return make


def _secondary_sort(lab: Lab, size_bytes: int) -> Data:
    def make(directory: str) -> None:
        there = inside(lab, directory)
        lab.call(["mkdir", "-p", str(there)])
        for number in range(MAPS):
            words = (str(there / f"pairs-{number}"), str(size_bytes // MAPS), str(number))
            lab.call([sys.executable, "-m", "vas_bench.shuffle.pairs", *words])

    return Example(lab, "secondarysort", ("secondarysort",), size_bytes, make)


# SecondarySort's records have 12 bytes: a quarter of the input is as many records as TeraSort's.
JOBS = {
    "terasort": Job("TeraSort", _terasort, against_tez=True),
    "secondarysort": Job("SecondarySort", _secondary_sort, lambda size_bytes: size_bytes // 4),
    "sort": Job("Sort", _sort),
    "wordcount": Job("WordCount", _wordcount),
    "one-map": Job("1 map, 10 MB", _one_map, lambda _: _SMALL_BYTES),
}
