"""Runs a Hadoop program: starts its client, follows its applications, reports their results.

It works in the same way in a lab and on a site: the command and its environment decide where.
"""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from vas_core.durations import format_duration
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_yarn.history import History, job_id
from vas_yarn.jobs.events import Event
from vas_yarn.jobs.job import SUBMITTED, JobResult, add_counters
from vas_yarn.resourcemanager import ResourceManagerClient

_COMPLETED = re.compile(r"Job: Job \S+ completed successfully")
_PROGRESS = re.compile(r"Job: +map (\d+)% reduce (\d+)%")
_LOG_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ ")
_MAPREDUCE = "MAPREDUCE"
_EXCERPT_LINES = 12
_KILL_TIMEOUT_SECONDS = 15.0
_HISTORY_TIMEOUT_SECONDS = 30.0


class Cancelled(VasError):
    """The process that asked for the job has ended."""


@dataclass(frozen=True, kw_only=True)
class JobProgram:
    """A command that submits jobs. `name` stands in messages; its output goes into the file `log`.

    `env` is its whole environment; None hands on that of this process. After `limit_seconds` it is
    stopped; None sets no limit.
    """

    name: str
    argv: Sequence[str]
    log: Path
    env: Mapping[str, str] | None = None
    limit_seconds: float | None = None


class JobClient:
    """The run of one program, from its start to its result."""

    def __init__(
        self,
        program: JobProgram,
        yarn: ResourceManagerClient,
        history: History,
        heard: Callable[[Event], None],
    ) -> None:
        self._program, self._yarn, self._history = program, yarn, history
        self._heard = heard
        self._applications: list[str] = []
        self._submitted_at = self._client_seconds = 0.0

    def run(self, lifeline: int | None = None) -> JobResult:
        """Runs the program to its end and returns its result, in which `cpu_seconds` is 0.

        `lifeline` is a descriptor: when its other end is closed, the program's jobs are killed
        and Cancelled is raised. Raises VasError if the program or one of its jobs fails, or has
        not ended within its limit; OSError if the program cannot be started.
        """
        started = time.monotonic()
        try:
            status = self._run(lifeline)
        except BaseException:
            self._kill()
            raise
        wall = time.monotonic() - started
        if status != 0:
            raise VasError(
                f"the job ended with status {status}:\n{self._excerpt()}",
                where=self._program.name,
                hint=f"the whole output is {self._program.log}",
            )
        return self._result(wall)

    def _run(self, lifeline: int | None) -> int:
        client = subprocess.Popen(
            self._program.argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self._program.env,
            # The terminal's Ctrl-C is ours: a client that dies of it leaves its jobs running.
            start_new_session=True,
        )
        limit = self._program.limit_seconds
        with client, self._program.log.open("wb") as log:
            assert client.stdout is not None
            try:
                for line in lines_while_wanted(client.stdout.fileno(), lifeline, limit):
                    log.write(line)
                    self._understand(line.decode(errors="replace").rstrip("\n"))
            except BaseException:
                client.kill()
                raise
        return client.returncode

    def _understand(self, line: str) -> None:
        if submitted := SUBMITTED.search(line):
            self._applications.append(submitted[1])
            self._submitted_at = time.monotonic()
            self._say(f"{submitted[1]} waits for its first container")
        elif _COMPLETED.search(line):
            self._client_seconds += time.monotonic() - self._submitted_at
        elif progress := _PROGRESS.search(line):
            self._say(f"{self._applications[-1]}: map {progress[1]} %, reduce {progress[2]} %")
        elif not _LOG_LINE.match(line):
            self._heard(Event(kind="output", text=line))

    def _say(self, text: str) -> None:
        self._heard(Event(kind="progress", text=text))

    def _kill(self) -> None:
        for application in self._applications:
            self._yarn.kill(application)
            poll(
                partial(self._yarn.state, application),
                lambda state: state in ("KILLED", "FINISHED", "FAILED"),
                _KILL_TIMEOUT_SECONDS,
                f"{application} to end",
            )

    def _result(self, wall: float) -> JobResult:
        jobs = [job_id(application) for application in self._applications]
        if any(self._yarn.kind(application) != _MAPREDUCE for application in self._applications):
            return self._without_history(wall)
        summaries = [self._summary(job) for job in jobs]
        return JobResult(
            application_id=self._applications[-1] if jobs else "",
            job_id=jobs[-1] if jobs else "",
            state=summaries[-1]["state"] if jobs else "NO JOB",
            seconds=sum(s["finishTime"] - s["submitTime"] for s in summaries) / 1000,
            client_seconds=self._client_seconds,
            wall_seconds=wall,
            cpu_seconds=0,
            counters=add_counters(self._history.counters(job) for job in jobs),
            map_counters=add_counters(self._history.counters(job, "map") for job in jobs),
        )

    def _without_history(self, wall: float) -> JobResult:
        application = self._applications[-1]
        return JobResult(
            application_id=application,
            job_id=job_id(application),
            state="SUCCEEDED",  # as the client said by its exit status
            seconds=self._client_seconds,
            client_seconds=self._client_seconds,
            wall_seconds=wall,
            cpu_seconds=0,
            counters={},
            map_counters={},
        )

    def _summary(self, job: str) -> dict[str, Any]:
        """The job in the history, where it arrives a moment after its end."""

        def look() -> dict[str, Any]:
            try:
                return self._history.job(job)
            except VasError:
                return {}

        return poll(look, bool, _HISTORY_TIMEOUT_SECONDS, f"the history of {job}")

    def _excerpt(self) -> str:
        lines = self._program.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_EXCERPT_LINES:])


def lines_while_wanted(
    output: int, lifeline: int | None, limit_seconds: float | None = None
) -> Iterator[bytes]:
    """Yields the lines of the descriptor `output`, until it is closed.

    Raises Cancelled as soon as the other end of `lifeline` is closed, VasError where the lines have
    not ended after `limit_seconds`.
    """
    rest = b""
    deadline = None if limit_seconds is None else time.monotonic() + limit_seconds
    with selectors.DefaultSelector() as selector:
        for descriptor in (output, lifeline):
            if descriptor is not None:
                selector.register(descriptor, selectors.EVENT_READ)
        while True:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            readable = {key.fd for key, _ in selector.select(left)}
            if lifeline in readable:
                raise Cancelled("cancelled")
            if left == 0 or not readable:
                allowed = format_duration(limit_seconds or 0)
                raise VasError(f"it was killed: it had not ended after {allowed}, its time limit")
            part = os.read(output, 65536)
            *lines, rest = (rest + part).splitlines(keepends=True) or [b""]
            if rest.endswith(b"\n") or not part:
                lines, rest = [*lines, rest], b""
            yield from (line for line in lines if line)
            if not part:
                return
