"""The project's own jobs: their jar, and those of the dissertation's 5.2.8 that shuffle much."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vas_bench.run.examples import Example
from vas_core.errors import NotHere
from vas_core.repository import REPOSITORY
from vas_yarn.jobs.place import JobPlace
from vas_yarn.jobs.terasort import TeraSortSizes, job_properties

_GENERATOR = "org.vas.workloads.data.Generate"
_PROGRAMS = "org.vas.workloads.heavy"
_SEED = 1
_WORKLOADS = REPOSITORY / "yarn-plugins/workloads/target"


def workloads_jar() -> Path:
    """Returns the jar of the project's own jobs. Raises NotHere before it is built."""
    found = sorted(_WORKLOADS.glob("vas-workloads-*.jar"))
    if not found:
        raise NotHere(
            "the workloads are not built", where=str(_WORKLOADS), hint="run `./vas build`"
        )
    return found[-1]


def heavy(program: str, kind: str) -> Callable[[JobPlace, TeraSortSizes, str], Example]:
    """Returns a function that makes the Example of the job `program`, one of the project's own.

    Its input is random data of the given kind, a file for each map.
    """

    def job(lab: JobPlace, sizes: TeraSortSizes, directory: str) -> Example:
        jar = str(workloads_jar())

        def make(inputs: str) -> None:
            amount = (str(sizes.size_bytes), str(sizes.maps), str(_SEED))
            lab.run_job([jar, _GENERATOR, kind, *amount, inputs], job_properties(sizes))

        return Example(lab, directory, (jar, f"{_PROGRAMS}.{program}"), sizes, make)

    return job
