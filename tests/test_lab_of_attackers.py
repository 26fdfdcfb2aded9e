"""Attacks on a running lab by Hadoop's and our own commands: races, names, signals.

Each case says the right answer, which was written down before it was run.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from vas_core.polling import poll
from vas_core.process import Completed
from vas_lab.control import ControlRequest
from vas_lab.hadoop.daemons import java, node_manager
from vas_lab.lab import Lab
from vas_tests.faults import (
    MANIFEST,
    PATIENCE_SECONDS,
    Point,
    attempt,
    digests,
    faulty_job,
    names,
)
from vas_tests.in_lab import VAS, inside, vas_json
from vas_yarn.jobs.job import JobResult

pytestmark = [pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(600)]

MIB = 1 << 20


@pytest.fixture
def place(lab: Lab, request: pytest.FixtureRequest) -> Iterator[Path]:
    """An empty directory on the lab's Lustre, `/attacked/NAME` for Hadoop; no NAME-out is there."""
    directory = inside(lab, "attacked", request.node.name.replace("[", "-").rstrip("]"))
    lab.call(["rm", "-rf", str(directory), f"{directory}-out"])
    lab.call(["mkdir", "-p", str(directory)])
    yield directory
    lab.call(["rm", "-rf", str(directory), f"{directory}-out"])


def hadoop(lab: Lab, path: Path) -> str:
    """A path of the lab's mount as Hadoop has it."""
    return f"/{path.relative_to(inside(lab))}"


def shell(lab: Lab, *words: str) -> list[str]:
    """`hadoop fs`."""
    return list(java(lab.spec, ["-Xmx128m", "org.apache.hadoop.fs.FsShell", *words]))


def started(lab: Lab, argv: list[str], node: str | None = None) -> subprocess.Popen[str]:
    """A program of the lab that runs, with pipes."""
    return subprocess.Popen(
        lab.enter(argv, node=node), text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def lines_of(writer: int) -> str:
    """More than any buffer holds."""
    return "".join(f"writer {writer} line {line:06d} {'x' * 40}\n" for line in range(6000))


def test_D2_of_two_that_append_at_once_from_two_guests_one_is_refused(
    lab: Lab, place: Path
) -> None:
    """Both are given the same time, and keep the file open.

    Right: exactly one is refused, by a line that says that another writer has the file; all that
    the other one was acknowledged is there, in order, and nothing of the refused one.
    """
    lab.call(["sh", "-euc", 'echo first >"$1"', "sh", str(place / "log")])
    words = shell(lab, "-appendToFile", "-", hadoop(lab, place / "log"))
    writers = [started(lab, words, node=node) for node in ("vm1", "vm2")]
    try:
        for number, writer in enumerate(writers):
            with suppress(BrokenPipeError):
                assert writer.stdin is not None
                writer.stdin.write(lines_of(number))
                writer.stdin.flush()
        ended = poll(lambda: _ended(writers), bool, PATIENCE_SECONDS, "one to be refused")
        (refused,) = ended
        kept = 1 - refused
        _, said = writers[kept].communicate(timeout=60)
        assert writers[kept].returncode == 0, said
        assert writers[refused].wait() != 0
        refusal = writers[refused].stderr
        told = refusal.read() if refusal else ""
        assert "another holds its lock" in told, told
        assert "\tat " not in told, told
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    assert lab.call(["cat", str(place / "log")]).stdout == f"first\n{lines_of(kept)}"


def _ended(writers: list[subprocess.Popen[str]]) -> list[int]:
    return [number for number, writer in enumerate(writers) if writer.poll() is not None]


def test_R1_of_eight_that_rename_to_one_name_one_wins(lab: Lab, place: Path) -> None:
    """Right: one file arrives with its own bytes, its source is gone; seven sources are left as
    they were, and each of the seven commands fails."""
    for number in range(8):
        script = 'echo "$2" >"$1"'
        lab.call(["sh", "-euc", script, "sh", str(place / f"f{number}"), f"content {number}"])
    target = hadoop(lab, place / "target")
    movers = [
        started(lab, shell(lab, "-mv", hadoop(lab, place / f"f{number}"), target), node=f"vm{vm}")
        for number, vm in enumerate((1, 2, 3, 4) * 2)
    ]
    ends = [(*mover.communicate(timeout=300), mover.returncode) for mover in movers]
    winners = [number for number, end in enumerate(ends) if end[2] == 0]
    assert len(winners) == 1, ends
    (winner,) = winners
    assert lab.call(["cat", str(place / "target")]).stdout == f"content {winner}\n"
    for number in set(range(8)) - {winner}:
        assert lab.call(["cat", str(place / f"f{number}")]).stdout == f"content {number}\n"
    assert sorted(lab.call(["ls", str(place)]).stdout.split()) == sorted(
        ["target", *(f"f{number}" for number in range(8) if number != winner)]
    )


def _colon(directory: str) -> list[str]:
    return ["sh", "-euc", 'echo a b >"$1/a:b"; echo c >"$1/other"', "sh", directory]


def _bytes(directory: str) -> list[str]:
    script = 'echo a b >"$1/$(printf "a\\377b")"; echo c >"$1/other"'
    return ["sh", "-euc", script, "sh", directory]


@pytest.mark.parametrize(
    ("make", "reads", "says"),
    [(_colon, True, ("colon", "a:b")), (_bytes, False, ("UTF-8", r"a\xffb"))],
    ids=["colon", "bytes"],
)
def test_O4_a_name_that_hadoop_cannot_have_is_told(
    lab: Lab, place: Path, make: Callable[[str], list[str]], reads: bool, says: tuple[str, ...]
) -> None:
    """An input directory has a name with a colon, or one that is not UTF-8.

    Right: `hadoop fs -ls` lists the directory. A pattern over it, and a job of it, either do their
    work with every file or end with a line that says which name is wrong and why, without a stack
    of calls from `hadoop fs`; the job can read the file with the colon, and not the other one.
    """
    lab.call(make(str(place)))
    directory = hadoop(lab, place)
    listed = lab.call(shell(lab, "-ls", directory), check=False)
    assert listed.status == 0 and "other" in listed.stdout, listed.stderr
    assert len(listed.stdout.splitlines()) == 3, listed.stdout
    globbed = lab.call(shell(lab, "-ls", f"{directory}/*"), check=False)
    assert_told(globbed, says)
    assert "\tat " not in listed.stderr + globbed.stderr
    (examples,) = lab.spec.hadoop_lib.glob("hadoop-mapreduce-examples-*.jar")
    words = ["submit", str(examples), "wordcount", directory, f"{directory}-out"]
    job = lab.call([*VAS, *words], check=False)
    assert_told(job, says)
    assert (job.status == 0) == reads, job.stderr
    if reads:
        script = f"cat {place}-out/part-r-*"
        counted = lab.call(["sh", "-euc", script]).stdout.split()
        assert counted == ["a", "1", "b", "1", "c", "1"]


def assert_told(done: Completed, says: tuple[str, ...]) -> None:
    """It did its work, or said what is wrong in one line."""
    lines = done.stderr.splitlines()
    told = any(all(word in line for word in says) for line in lines)
    assert done.status == 0 or told, done.stderr


def test_L1_a_job_with_an_empty_access_list_stops_no_janitor(lab: Lab, place: Path) -> None:
    """A job leaves its directory and lets nobody see it; another one leaves its own.

    Right: `vas shuffle gc` says something about each and removes the other one's, at least.
    """
    kept = {"mapreduce.task.files.preserve.failedtasks": "true"}
    hidden = _teragen(lab, place / "hidden", kept | {"mapreduce.job.acl-view-job": " "})
    other = _teragen(lab, place / "other", kept)
    staging = inside(lab, "yarn", "staging")
    for job in (hidden, other):
        attempt_dir = staging / f"somebody/.staging/{job.job_id}/shuffle/attempt_1_0001_m_000000_0"
        lab.call(["mkdir", "-p", str(attempt_dir)])
    manager = f"http://{lab.spec.cluster.yarn.resourcemanager.name}:8088"
    gc = ("shuffle", "gc", "--staging", str(staging), "--resourcemanager", manager)

    said: dict[str, str] = {}

    def verdicts() -> dict[str, str]:
        rows = vas_json(lab, *gc, "--grace", "0s")
        return {row["where"]: row["verdict"] for row in rows if "somebody" in row["where"]}

    def all_said() -> dict[str, str]:
        # A job may be in quarantine, by another name, before the other one's second has passed.
        said.update(now := verdicts())
        return now

    poll(all_said, lambda found: "grace" not in found.values(), 60, "the second to pass")
    assert said[f"somebody/.staging/{other.job_id}"] == "quarantine"
    assert f"somebody/.staging/{hidden.job_id}" in said
    verdicts()
    assert other.job_id not in str(verdicts())


def _teragen(lab: Lab, output: Path, conf: dict[str, str]) -> JobResult:
    return lab.run_job(["teragen", "10", hadoop(lab, output)], conf | {"mapreduce.job.maps": "1"})


# `vas` that kills itself when `layout put` has copied the bytes that its first argument says.
KILLED = """
import os, signal, sys
from vas_layout.command import put as command
from vas_core.cli import main
copied, most, put = [], int(sys.argv[1]), command.put
def killed(*arguments, progress, **options):
    def count(part):
        copied.append(part)
        if sum(copied) >= most:
            os.kill(os.getpid(), signal.SIGKILL)
    return put(*arguments, progress=count, **options)
command.put = killed
main(sys.argv[2:])
"""


def test_a_put_that_is_killed_is_finished_by_the_next(
    lab: Lab, place: Path, tmp_path: Path
) -> None:
    """SIGKILL at four moments of `vas layout put`: at the last one all is copied, nothing is named.

    Right: the final name is not there until the put that ends well; then it has the source's
    bytes, and nothing else is left.
    """
    source = tmp_path / "source"
    source.write_bytes(os.urandom(MIB) * 96)
    words = ["layout", "put", "--split", "1M", "--osts", "4", str(source), str(place / "final")]
    for moment in (1, 8 * MIB, 40 * MIB, 96 * MIB):
        killed = lab.call([sys.executable, "-c", KILLED, str(moment), *words], check=False)
        assert killed.status in (-signal.SIGKILL, 128 + signal.SIGKILL), killed
        left = lab.call(["ls", "-A", str(place)]).stdout.split()
        assert left and "final" not in left, left
    lab.call([*VAS, *words])
    lab.call(["cmp", str(source), str(place / "final")])
    assert lab.call(["ls", "-A", str(place)]).stdout.split() == ["final"]


def test_a_stopped_nodemanager_costs_no_output(lab: Lab, undisturbed: dict[str, str]) -> None:
    """SIGSTOP of the NodeManager under a map that has not published, SIGCONT when another has.

    Right: the node is lost, another attempt of the map does its work, the output is right, and the
    node comes back.
    """
    points = [Point(name, attempt(name), "rename", MANIFEST) for name in sorted(names("m", 0))]
    spread = {"mapreduce.map.memory.mb": "600"}
    with faulty_job(lab, "stopped-node", *points, conf=spread) as job:
        where = {job.held(point.name).node: point.name for point in points}
        lost = min(where, key=lambda node: (node == job.master_node(), node))
        job.release(*(name for node, name in where.items() if node != lost))
        with stopped(lab, lost):
            job.release(where[lost])
            job.succeeded()
    assert digests(lab, "stopped-node") == undisturbed


@contextmanager
def stopped(lab: Lab, node: str) -> Iterator[None]:
    """A NodeManager that is stopped, and lost for YARN, during the body."""
    tell_node(lab, node, signal.SIGSTOP)
    try:
        wait_for_node(lab, node, "LOST")
        yield
    finally:
        tell_node(lab, node, signal.SIGCONT)
        wait_for_node(lab, node, "RUNNING")


def tell_node(lab: Lab, node: str, number: int) -> None:
    """Sends a NodeManager a signal."""
    lab.ask(ControlRequest(ask="signal", daemon=node_manager(node), signal=number))


def wait_for_node(lab: Lab, node: str, state: str) -> None:
    """Waits until YARN has a node in a state."""

    def look() -> str | None:
        return lab.ask(ControlRequest(ask="status")).nodes.get(node)

    poll(look, lambda found: found == state, PATIENCE_SECONDS, f"{node} {state}")
