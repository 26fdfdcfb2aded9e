"""Runs a job's client at a terminal, and prints the command to look at the job afterwards."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Sequence
from io import BufferedReader

from vas_core.cli import note
from vas_yarn.jobs.job import SUBMITTED

_KEPT_BYTES = 200
_SIGNALLED = 128


def run_and_lead_on(argv: Sequence[str]) -> int:
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
            application = _passed_on(client.stderr)
            status = client.wait()
        finally:
            signal.signal(signal.SIGINT, before)
    if application:
        note(_next_of(application, status))
    return status if status >= 0 else _SIGNALLED - status


def _passed_on(stream: BufferedReader) -> str | None:
    """Writes what comes to stderr; returns the id of the last application that it names."""
    found, text = None, ""
    while part := stream.read1():
        sys.stderr.buffer.write(part)
        sys.stderr.flush()
        text += part.decode(errors="replace")
        for match in SUBMITTED.finditer(text):
            found = match[1]
        # An id may come in two parts, and its last digits too.
        text = text[-_KEPT_BYTES:]
    return found


def _next_of(application: str, status: int) -> str:
    if status:
        return f"{application} did not end well; next: yarn logs -applicationId {application}"
    return f"next: `vas job locality {application}`: where its maps ran, and why"
