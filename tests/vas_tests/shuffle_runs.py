"""Runs jobs in a lab whose outputs are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path

from vas_core.polling import poll
from vas_lab.lab import Lab
from vas_tests.faults import EXIT_SECONDS
from vas_tests.in_lab import inside
from vas_tests.words import make_words
from vas_yarn.jobs.job import JobResult

# What a comparison needs to be one: each task once, and reducers in nobody's way.
ALIKE = {
    "mapreduce.map.speculative": "false",
    "mapreduce.reduce.speculative": "false",
    "mapreduce.job.reduce.slowstart.completedmaps": "1.0",
    "mapreduce.terasort.output.replication": "1",
}
# Three files: numbers of which many are alike, and a second one that is not.
_PAIRS = 'mkdir -p "$1"; cd "$1"; seq 20000 | awk \'{print ($1*7919)%101, $1 >"in" NR%3}\''


def at_once(*jobs: Callable[[], JobResult]) -> list[JobResult]:
    """Runs jobs at the same time, waits for all, and returns their results in order.

    Raises the error of the first one that failed.
    """
    pool = ThreadPoolExecutor(len(jobs))
    futures = [pool.submit(job) for job in jobs]
    try:
        wait(futures)
    finally:
        # Not waited for again: whoever interrupts this ends the lab, and its jobs with it.
        pool.shutdown(wait=False)
    return [future.result() for future in futures]


def run(lab: Lab, program: tuple[str, ...], output: str, conf: Mapping[str, str]) -> JobResult:
    """Runs a program into the output directory of this name, which is removed first.

    Raises VasError if the job fails.
    """
    lab.call(["rm", "-rf", str(inside(lab, "shuffle/out", output))])
    return lab.run_job([*program, f"/shuffle/out/{output}"], ALIKE | dict(conf))


def generate_rows(lab: Lab, rows: int, *, maps: int) -> None:
    """Makes TeraGen's rows in /shuffle/in/rows, in place of those of an earlier lab."""
    lab.call(["rm", "-rf", str(inside(lab, "shuffle/in/rows"))])
    lab.run_job(["teragen", str(rows), "/shuffle/in/rows"], {"mapreduce.job.maps": str(maps)})


def make_inputs(lab: Lab) -> JobResult:
    """Makes the input of the programs of `shuffle_cases`, of two or three maps each.

    Returns TeraGen's run.
    """
    lab.call(["rm", "-rf", str(inside(lab, "shuffle"))])
    lab.call(["sh", "-euc", _PAIRS, "sh", str(inside(lab, "shuffle/in/pairs"))])
    make_words(lab, inside(lab, "shuffle/in/text"))
    amount = {"totalbytes": str(4 << 20), "bytespermap": str(2 << 20)}
    text = {f"mapreduce.randomtextwriter.{key}": value for key, value in amount.items()}
    generated, _ = at_once(
        partial(lab.run_job, ["teragen", "40000", "/shuffle/in/rows"], {"mapreduce.job.maps": "2"}),
        partial(lab.run_job, ["randomtextwriter", "/shuffle/in/random"], text),
    )
    return generated


def files(lab: Lab, output: str) -> list[str]:
    """Returns the paths of a job's output files, `part-*`."""
    directory = str(inside(lab, "shuffle/out", output))
    return lab.call(["find", directory, "-name", "part-*"]).stdout.splitlines()


def digests(lab: Lab, output: str) -> dict[str, str]:
    """Returns name -> SHA-256 of a job's output files."""
    sums = lab.call(["sha256sum", *files(lab, output)]).stdout
    return {Path(path).name: digest for digest, path in map(str.split, sums.splitlines())}


def assert_nothing_left(lab: Lab, job: JobResult) -> None:
    """Waits until nothing of a job is left in the staging directory.

    The job's master may remove it after the job has ended. Raises VasError with what is left.
    """
    staging = str(inside(lab, "yarn", "staging"))

    def left() -> list[str]:
        # What goes while find looks at it is an error of find's; any other error stays.
        found = lab.call(["find", staging, "-path", f"*/.staging/{job.job_id}*"], check=False)
        return (found.stdout + found.stderr).splitlines()

    poll(left, lambda paths: not paths, EXIT_SECONDS, f"the files of {job.job_id} to go")
