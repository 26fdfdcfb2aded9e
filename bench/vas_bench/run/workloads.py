"""The workloads by name: each makes an input, runs a job on it and checks the output."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

from vas_bench.run.examples import (
    TEXTS,
    Data,
    Example,
    random_text,
    secondary_sort,
    sort,
    wordcount,
)
from vas_bench.run.own_jobs import heavy, workloads_jar
from vas_bench.run.plan import WorkloadName
from vas_core.errors import VasError
from vas_yarn.jobs.job import JobResult
from vas_yarn.jobs.place import JobPlace
from vas_yarn.jobs.systems import Arm
from vas_yarn.jobs.terasort import ROW_BYTES, TeraSort, TeraSortSizes, job_properties
from vas_yarn.jobs.trees import copy_to_hdfs, cut_files, readable, remove_tree

_PLAIN_WORD_COUNT = "org.vas.workloads.words.PlainWordCount"
_GREP = "org.vas.workloads.words.Grep"
_WATCHED_WORD_COUNT = "org.vas.workloads.words.WatchedWordCount"
_VALIDATORS_OUTPUT = "/tmp/sortvalidate"  # noqa: S108 (in the lab's file system, its own choice)
_TEXT = 'hadoop fs -text "$1/part-*" >"$2"; wc -c <"$2"; sha256sum <"$2"; rm "$2"'
_READ = ("LUSTRE_BYTES_READ", "HDFS_BYTES_READ")
_SIZES = 'stat -c %s "$1"/*'
_HALVES = 'for file in "$1"/*; do cmp -n "$2" -i "0:$2" "$file" "$file"; done'


@dataclass(frozen=True)
class Workload:
    """A workload. With `as_stock` the output is right that is byte for byte stock's.

    `has_input` says whether it reads what the plan's size counts; `has_splits`, whether its map
    tasks do, each its own split, so that their places can be judged. `copies` is how often the
    bytes of the input lie on the disk at a run's end, besides the input: map output, what reducers
    fetched of it, the output, and its copy in a check. `cost` is how much longer a byte of it takes
    than one of TeraSort's, by the CPU time of stock's tasks.
    """

    data: Callable[[JobPlace, TeraSortSizes, str], Data]
    check: str
    as_stock: bool = False
    has_input: bool = True
    has_splits: bool = True
    copies: int = 4
    cost: float = 1.0


class Sorted(Example):
    """Sort of random texts as a sequence file, checked by SortValidator and by its text.

    SortValidator sees lost, changed and wrongly partitioned records. It does not see a wrong order
    (Hadoop 3.5): the key that it remembers is the object that the next one is read into.
    """

    def __init__(self, lab: JobPlace, sizes: TeraSortSizes, directory: str) -> None:
        argv = ("sort", "-r", str(sizes.reducers), *TEXTS)
        super().__init__(lab, directory, argv, sizes, random_text(lab, sizes))

    def validate(self, _: Arm) -> str:
        """Returns the SHA-256 of the output as text; removes the output.

        Raises VasError if it is wrong.
        """
        source, output = f"{self._directory}/input", self._output
        argv = ["sortvalidator", "-sortInput", source, "-sortOutput", output]
        self._lab.run_job(argv, self._properties)
        remove_tree(self._lab, _VALIDATORS_OUTPUT)
        text = str(self._lab.spec.temporary / "sorted.txt")
        found = self._lab.call(["sh", "-euc", _TEXT, "sh", output, text]).stdout.split()
        remove_tree(self._lab, output)
        if int(found[0]) == 0:
            raise VasError("there is nothing in it", where=output)
        return found[1]


class TeraGen:
    """TeraGen alone: the rows' checksum must be that of stock's."""

    def __init__(self, lab: JobPlace, sizes: TeraSortSizes, directory: str) -> None:
        self._lab, self._sizes, self._directory = lab, sizes, directory
        self._output = f"{directory}/output"
        self._checksum = self._expected = 0

    def generate(self) -> None:
        """Makes the rows once, for their checksum."""
        remove_tree(self._lab, self._directory)
        self._expected = self._generate({}).counter("CHECKSUM")

    def copy_from(self, made: TeraGen) -> None:
        """Takes the checksum that the rows must have from another one."""
        self._expected = made._expected

    def run(self, arm: Arm) -> JobResult:
        """Makes the rows as one arm. Raises VasError when the lab is broken or the job fails."""
        self._lab.refuse_broken()
        made = self._generate(arm.properties, arm.jars)
        self._checksum = made.counter("CHECKSUM")
        return made

    def validate(self, _: Arm) -> str:
        """Returns the checksum of the rows; removes them. Raises VasError for other or fewer."""
        size_bytes = bytes_in(self._lab, self._output)
        remove_tree(self._lab, self._output)
        if self._checksum != self._expected:
            raise VasError(f"checksum {self._checksum:x}, stock's is {self._expected:x}")
        if size_bytes != self._sizes.rows * ROW_BYTES:
            raise VasError(f"{size_bytes} bytes of {self._sizes.rows} rows")
        return f"{self._checksum:x}"

    def _generate(self, properties: Mapping[str, str], jars: Sequence[Path] = ()) -> JobResult:
        remove_tree(self._lab, self._output)
        argv = ["teragen", str(self._sizes.rows), self._output]
        told = job_properties(self._sizes) | dict(properties)
        return self._lab.run_job(argv, told, jars=jars)


class Dfsio:
    """TestDFSIO's writing, reading or appending: a file for each map, as large as a split.

    Appending doubles the files, which are cut to what they were after each run.
    """

    def __init__(
        self,
        lab: JobPlace,
        sizes: TeraSortSizes,
        directory: str,
        mode: Literal["write", "read", "append"],
    ) -> None:
        self._lab, self._directory, self._mode = lab, directory, mode
        self._sizes, self._files_in = sizes, f"{directory}/io_data"
        self._files, self._file_bytes = sizes.maps, sizes.size_bytes // sizes.maps
        self._properties = job_properties(sizes) | {"test.build.data": directory}
        self._read_bytes = 0
        self._is_longer = False

    def generate(self) -> None:
        """Writes the files that runs read, or append to."""
        remove_tree(self._lab, self._directory)
        if self._mode != "write":
            self._play("write", {})

    def copy_from(self, made: Dfsio) -> None:
        """Copies the files to read, or to append to, into HDFS."""
        if self._mode != "write":
            source, target = made._files_in, self._files_in
            copy_to_hdfs(self._lab, source, target, self._sizes.split_bytes)

    def run(self, arm: Arm) -> JobResult:
        """Writes, reads or appends. Raises VasError when the lab is broken or the job fails."""
        self._lab.refuse_broken()
        if self._is_longer:
            # By a run that failed: nothing has looked at what it left.
            self._cut()
        self._is_longer = self._mode == "append"
        done = self._play(self._mode, arm.properties, arm.jars)
        self._read_bytes = sum(done.map_counter(name) for name in _READ)
        return done.model_copy(update={"printed": self._rates()})

    def _rates(self) -> dict[str, float]:
        with readable(self._lab, f"{self._directory}/io_{self._mode}") as there:
            return dfsio_rates(self._lab.call(["cat", f"{there}/part-00000"]).stdout)

    def validate(self, _: Arm) -> str:
        """Raises VasError unless all bytes are on the disk, or were read. They have no checksum.

        TestDFSIO appends what it wrote: of a right file both halves are the same.
        """
        wanted = self._files * self._file_bytes * (2 if self._mode == "append" else 1)
        found = bytes_in(self._lab, self._files_in)
        if self._mode == "write":
            remove_tree(self._lab, self._files_in)
        if found != wanted:
            raise VasError(f"{found} bytes in the files, {wanted} were to be written")
        if self._mode == "read" and self._read_bytes < wanted:
            raise VasError(f"{self._read_bytes} bytes were read of {wanted}")
        if self._mode == "append":
            self._compare_halves()
            self._cut()
        return ""

    def _compare_halves(self) -> None:
        with readable(self._lab, self._files_in) as there:
            argv = ["sh", "-euc", _HALVES, "sh", str(there), str(self._file_bytes)]
            self._lab.call(argv)

    def _cut(self) -> None:
        cut_files(self._lab, self._files_in, self._file_bytes)
        self._is_longer = False

    def _play(
        self, mode: str, properties: Mapping[str, str], jars: Sequence[Path] = ()
    ) -> JobResult:
        amount = ("-nrFiles", str(self._files), "-size", f"{self._file_bytes}B")
        told = self._properties | dict(properties)
        return self._lab.run_job(["dfsio", f"-{mode}", *amount], told, jars=jars)


def dfsio_rates(sums: str) -> dict[str, float]:
    """Returns the two rates that TestDFSIO prints, from the sums that its reducer wrote.

    All bytes by the time of all maps together, and the mean of the maps' own rates. Raises
    VasError for another text.
    """
    pairs = [line.split("\t") for line in sums.splitlines()]
    try:
        told = {key.partition(":")[2]: float(value) for key, value in pairs}
        size, milliseconds, tasks, rates = (
            told[name] for name in ("size", "time", "tasks", "rate")
        )
    except (ValueError, KeyError) as wrong:
        raise VasError(f"these are no sums of TestDFSIO: {sums[:80]!r}") from wrong
    return {
        # It counts whole milliseconds, and thousandths of MiB/s.
        "dfsio_bytes_per_second/throughput": size / max(milliseconds, 1.0) * 1000,
        "dfsio_bytes_per_second/mean of maps": rates / 1000 / max(tasks, 1.0) * (1 << 20),
    }


def bytes_in(lab: JobPlace, directory: str) -> int:
    """Returns the bytes of all files of a directory that are not hidden."""
    with readable(lab, directory) as there:
        return sum(map(int, lab.call(["sh", "-euc", _SIZES, "sh", str(there)]).stdout.split()))


def _without_combiner(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
    return wordcount(lab, sizes, directory, (str(workloads_jar()), _PLAIN_WORD_COUNT))


def _grep(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
    return wordcount(lab, sizes, directory, (str(workloads_jar()), _GREP))


def _watched(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
    """WordCount whose input has a file of several splits for each generator."""
    program = (str(workloads_jar()), _WATCHED_WORD_COUNT)
    return wordcount(lab, sizes, directory, program, files=sizes.generators)


_AS_STOCK = "SHA-256 of the output against stock's"
WORKLOADS: dict[WorkloadName, Workload] = {
    "teragen": Workload(
        TeraGen, "TeraGen's checksum, and the bytes", has_input=False, has_splits=False
    ),
    "terasort": Workload(TeraSort, "TeraValidate"),
    "wordcount": Workload(wordcount, _AS_STOCK, as_stock=True),
    "wordcount-without-combiner": Workload(_without_combiner, _AS_STOCK, as_stock=True),
    "wordcount-watched": Workload(_watched, _AS_STOCK, as_stock=True),
    "grep": Workload(_grep, _AS_STOCK, as_stock=True),
    "secondarysort": Workload(secondary_sort, _AS_STOCK, as_stock=True),
    "sort": Workload(Sorted, f"SortValidator, and {_AS_STOCK}", as_stock=True),
    "sort-as-text": Workload(sort, _AS_STOCK, as_stock=True),
    "selfjoin": Workload(
        heavy("SelfJoin", "associations"), _AS_STOCK, as_stock=True, copies=5, cost=3
    ),
    "invertedindex": Workload(
        heavy("InvertedIndex", "documents"), _AS_STOCK, as_stock=True, cost=8
    ),
    "sequencecount": Workload(
        heavy("SequenceCount", "documents"), _AS_STOCK, as_stock=True, copies=16, cost=18
    ),
    "adjacencylist": Workload(
        heavy("AdjacencyList", "edges"), _AS_STOCK, as_stock=True, copies=7, cost=12
    ),
    "testdfsio-write": Workload(
        partial(Dfsio, mode="write"),
        "bytes in the files",
        has_input=False,
        has_splits=False,
    ),
    "testdfsio-read": Workload(
        partial(Dfsio, mode="read"),
        "bytes in the files, and bytes read",
        has_splits=False,
    ),
    "testdfsio-append": Workload(
        partial(Dfsio, mode="append"),
        "bytes in the files, and what was appended against what was there",
        has_input=False,
        has_splits=False,
    ),
}
