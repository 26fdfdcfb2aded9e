"""The four jobs of the dissertation's 5.2.8 whose maps leave much to shuffle, on made input."""

from __future__ import annotations

from vas_bench.run.examples import Example
from vas_bench.run.workloads_jar import workloads_jar
from vas_yarn.jobs.place import JobPlace
from vas_yarn.jobs.terasort import TeraSortSizes, job_properties

_GENERATOR = "org.vas.workloads.data.Generate"
_PROGRAMS = "org.vas.workloads.heavy"
_SEED = 1


def self_join(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
    """Returns the job SelfJoin of lists of four items."""
    return _job(lab, sizes, directory, "SelfJoin", "associations")


def inverted_index(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
    """Returns the job InvertedIndex of documents."""
    return _job(lab, sizes, directory, "InvertedIndex", "documents")


def sequence_count(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
    """Returns the job SequenceCount of documents."""
    return _job(lab, sizes, directory, "SequenceCount", "documents")


def adjacency_list(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
    """Returns the job AdjacencyList of a graph's edges."""
    return _job(lab, sizes, directory, "AdjacencyList", "edges")


def _job(lab: JobPlace, sizes: TeraSortSizes, directory: str, program: str, kind: str) -> Example:
    jar = str(workloads_jar())

    def make(inputs: str) -> None:
        # A file for each map.
        amount = (str(sizes.size_bytes), str(sizes.maps), str(_SEED))
        lab.run_job([jar, _GENERATOR, kind, *amount, inputs], job_properties(sizes))

    return Example(lab, directory, (jar, f"{_PROGRAMS}.{program}"), sizes, make)
