"""Shows or runs a job's client, and tells how to look at the job afterwards."""

from __future__ import annotations

import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BufferedReader

import click

from vas_core.cli import note, print_json
from vas_core.errors import ExitStatus
from vas_core.process import follow
from vas_core.shown import shown
from vas_yarn.jobs.job import SUBMITTED

_KEPT_BYTES = 400
_SIGNALLED = 128
# By Ctrl-C or SIGTERM: without a handler, or as a JVM ends that has one.
_STOPPED = {
    status
    for number in (signal.SIGINT, signal.SIGTERM)
    for status in (-number, _SIGNALLED + number)
}
# ResourceManager (RMAppManager, CapacityScheduler).
_UNKNOWN_QUEUE = re.compile(r"submitted by user \S+ to unknown queue: ([^\s\"]+)")


@dataclass(frozen=True)
class ClientWords:
    """The words about a job of one kind, for the line that leads on.

    `queue`: the option that names a queue. `stopped`: what became of the job `{}` when its client
    was stopped. `tasks`: what `vas job locality` shows.
    """

    queue: str
    stopped: str
    tasks: str


MAPREDUCE = ClientWords(
    queue="-D mapreduce.job.queuename=QUEUE",
    stopped="the client was stopped; {} runs on, unless it had ended",
    tasks="where its maps ran, and why",
)


@dataclass
class _Told:
    """Holds what a client's stderr told: the last application's id, the queue that is missing."""

    application: str | None = None
    unknown_queue: str | None = None


def show(argv: Sequence[str], description: Mapping[str, object], *, as_json: bool) -> int:
    """Prints the command line of a client, or the submission's description as JSON; runs nothing.

    Returns the exit status of success.
    """
    if as_json:
        print_json(dict(description))
    else:
        click.echo(shlex.join(argv))
    return ExitStatus.DONE


def run_and_describe(argv: Sequence[str], description: Mapping[str, object]) -> int:
    """Runs a job's client to its end, then prints the submission's description as JSON.

    The description gets the client's exit status and the ids of its applications. What the client
    prints goes to stderr, so that stdout has one JSON object. Returns `vas submit`'s exit status.
    Raises NotHere if the client does not exist.
    """
    applications: dict[str, None] = {}

    def heard(line: str) -> None:
        note(line)
        applications.update(dict.fromkeys(SUBMITTED.findall(line)))

    status = follow(argv, heard)
    print_json({**description, "applications": list(applications), "status": status})
    return ExitStatus.FAILED if status else ExitStatus.DONE


def run_and_lead_on(argv: Sequence[str], words: ClientWords = MAPREDUCE) -> int:
    """Runs a job's client to its end and returns its exit status: 128 + N if signal N ended it.

    The client has this program's stdin and stdout, and gets the terminal's Ctrl-C. Its stderr is
    passed on at once, and searched for the application's id. Raises OSError if the client cannot be
    started.
    """
    with subprocess.Popen(argv, stderr=subprocess.PIPE) as client:
        # Only now, so that the client does not ignore Ctrl-C as well.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            assert isinstance(client.stderr, BufferedReader)
            told = _passed_on(client.stderr)
            status = client.wait()
        finally:
            signal.signal(signal.SIGINT, before)
    if line := _next_of(told, status, words):
        note(line)
    return status if status >= 0 else _SIGNALLED - status


def _passed_on(stream: BufferedReader) -> _Told:
    """Writes what comes to stderr; returns what it told."""
    told, text = _Told(), ""
    while part := stream.read1():
        sys.stderr.buffer.write(part)
        sys.stderr.flush()
        text += part.decode(errors="replace")
        for match in SUBMITTED.finditer(text):
            told.application = match[1]
        for match in _UNKNOWN_QUEUE.finditer(text):
            told.unknown_queue = match[1]
        # An id may come in two parts, and its last digits too.
        text = text[-_KEPT_BYTES:]
    return told


def _next_of(told: _Told, status: int, words: ClientWords) -> str:
    """Returns the line that leads on; empty if the client told of no job."""
    if status and told.unknown_queue:
        queue = shown(told.unknown_queue)
        there = "`mapred queue -list` prints those that are there"
        return f"YARN has no queue {queue}: name one by {words.queue}; {there}"
    application = told.application
    if application is None:
        return ""
    if status in _STOPPED:
        stopped = words.stopped.format(application)
        return f"{stopped}: `yarn application -kill {application}` ends it"
    if status:
        return f"{application} did not end well; next: yarn logs -applicationId {application}"
    return f"next: `vas job locality {application}`: {words.tasks}"
