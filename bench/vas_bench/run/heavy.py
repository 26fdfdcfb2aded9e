"""The four jobs of the dissertation's 5.2.8 whose maps leave much to shuffle, on made input."""

from __future__ import annotations

from collections.abc import Callable

from vas_bench.run.examples import Example
from vas_bench.run.workloads_jar import workloads_jar
from vas_yarn.jobs.place import JobPlace
from vas_yarn.jobs.terasort import TeraSortSizes, job_properties

_GENERATOR = "org.vas.workloads.data.Generate"
_PROGRAMS = "org.vas.workloads.heavy"
_SEED = 1


def heavy(program: str, kind: str) -> Callable[[JobPlace, TeraSortSizes, str], Example]:
    """Returns what makes the job `program`, on input of a kind, a file of it for each map."""

    def job(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
        jar = str(workloads_jar())

        def make(inputs: str) -> None:
            amount = (str(sizes.size_bytes), str(sizes.maps), str(_SEED))
            lab.run_job([jar, _GENERATOR, kind, *amount, inputs], job_properties(sizes))

        return Example(lab, directory, (jar, f"{_PROGRAMS}.{program}"), sizes, make)

    return job
