"""Runs one Hadoop program inside a lab: `python -m vas_lab.runner STATE_DIR`.

Its stdin is a JobRequest on one line and then stays open: when it ends, so does the job.
Its stdout is events. What the program itself prints goes to the request's log.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from vas_cluster.hadoop import configuration_xml
from vas_core.errors import VasError
from vas_core.polling import poll
from vas_core.root import Root
from vas_lab.configuration import configuration
from vas_lab.daemons import java
from vas_lab.disk import disk_error
from vas_lab.events import Event, emit
from vas_lab.job import JobRequest, JobResult, add_counters
from vas_lab.procfs import cpu_seconds
from vas_lab.rest import YarnRest
from vas_lab.spec import LabSpec
from vas_yarn.history import History, job_id

_SUBMITTED = re.compile(r"Submitted application (application_\d+_\d+)")
_COMPLETED = re.compile(r"Job: Job \S+ completed successfully")
_PROGRESS = re.compile(r"Job: +map (\d+)% reduce (\d+)%")
_LOG_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ ")
_MAPREDUCE = "MAPREDUCE"
_EXCERPT_LINES = 12
_KILL_TIMEOUT_SECONDS = 15.0
_HISTORY_TIMEOUT_SECONDS = 30.0


class Cancelled(VasError):
    """Whoever wanted the job is gone."""


class Runner:
    """One run of one program."""

    def __init__(self, spec: LabSpec, request: JobRequest) -> None:
        self._spec, self._request = spec, request
        self._applications: list[str] = []
        self._submitted_at = self._client_seconds = 0.0
        self._yarn = YarnRest(spec.cluster.resourcemanager_address)
        self._history = History(f"http://{spec.cluster.yarn.resourcemanager.name}:19888")

    def run(self) -> JobResult:
        """Runs the program to its end. Raises VasError when it or one of its jobs fails."""
        cpu, started = cpu_seconds(Root()), time.monotonic()
        try:
            with client_configuration(self._spec, self._request.properties) as conf:
                status = self._run_client(conf)
        except BaseException:
            self._kill()
            raise
        wall, cpu = time.monotonic() - started, cpu_seconds(Root()) - cpu
        if status != 0:
            raise VasError(
                f"the job ended with status {status}:\n{self._excerpt()}",
                where=self._request.main[0].rpartition(".")[2],
                hint=f"the whole output is {self._request.log}",
            )
        return self._result(wall, cpu)

    def _run_client(self, conf: Path) -> int:
        argv = java(self._spec, ["-Xmx256m", *self._request.main], conf, self._request.jars)
        client = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        with client, self._request.log.open("wb") as log:
            assert client.stdout is not None
            try:
                for line in lines_while_wanted(client.stdout.fileno(), sys.stdin.fileno()):
                    log.write(line)
                    self._understand(line.decode(errors="replace").rstrip("\n"))
            except BaseException:
                client.kill()
                raise
        return client.returncode

    def _understand(self, line: str) -> None:
        if submitted := _SUBMITTED.search(line):
            self._applications.append(submitted[1])
            self._submitted_at = time.monotonic()
            emit(Event(kind="progress", text=f"{submitted[1]} waits for its first container"))
        elif _COMPLETED.search(line):
            self._client_seconds += time.monotonic() - self._submitted_at
        elif progress := _PROGRESS.search(line):
            text = f"{self._applications[-1]}: map {progress[1]} %, reduce {progress[2]} %"
            emit(Event(kind="progress", text=text))
        elif not _LOG_LINE.match(line):
            emit(Event(kind="output", text=line))

    def _kill(self) -> None:
        for application in self._applications:
            self._yarn.kill(application)
            poll(
                partial(self._yarn.state, application),
                lambda state: state in ("KILLED", "FINISHED", "FAILED"),
                _KILL_TIMEOUT_SECONDS,
                f"{application} to end",
            )

    def _result(self, wall: float, cpu: float) -> JobResult:
        jobs = [job_id(application) for application in self._applications]
        if any(self._yarn.kind(application) != _MAPREDUCE for application in self._applications):
            return self._without_history(wall, cpu)
        summaries = [self._summary(job) for job in jobs]
        return JobResult(
            application_id=self._applications[-1] if jobs else "",
            job_id=jobs[-1] if jobs else "",
            state=summaries[-1]["state"] if jobs else "NO JOB",
            seconds=sum(s["finishTime"] - s["submitTime"] for s in summaries) / 1000,
            client_seconds=self._client_seconds,
            wall_seconds=wall,
            cpu_seconds=cpu,
            counters=add_counters(self._history.counters(job) for job in jobs),
            map_counters=add_counters(self._history.counters(job, "map") for job in jobs),
        )

    def _without_history(self, wall: float, cpu: float) -> JobResult:
        application = self._applications[-1]
        return JobResult(
            application_id=application,
            job_id=job_id(application),
            state="SUCCEEDED",  # as the client said by its exit status
            seconds=self._client_seconds,
            client_seconds=self._client_seconds,
            wall_seconds=wall,
            cpu_seconds=cpu,
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
        lines = self._request.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_EXCERPT_LINES:])


def lines_while_wanted(output: int, wish: int) -> Iterator[bytes]:
    """The lines of one descriptor as they come; Cancelled as soon as the other one ends."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        for descriptor in (output, wish):
            selector.register(descriptor, selectors.EVENT_READ)
        while True:
            readable = {key.fd for key, _ in selector.select()}
            if wish in readable:
                raise Cancelled("cancelled")
            part = os.read(output, 65536)
            *lines, rest = (rest + part).splitlines(keepends=True) or [b""]
            if rest.endswith(b"\n") or not part:
                lines, rest = [*lines, rest], b""
            yield from (line for line in lines if line)
            if not part:
                return


@contextmanager
def client_configuration(spec: LabSpec, properties: Mapping[str, str]) -> Iterator[Path]:
    """A copy of the lab's configuration in which `properties` have the last word.

    In every file, because each is read at another moment; and not as -D, which only
    programs that use Hadoop's Tool understand.
    """
    with tempfile.TemporaryDirectory(dir=spec.temporary, prefix="client-") as name:
        conf = Path(name)
        shutil.copytree(spec.conf, conf, dirs_exist_ok=True)
        for file, lab_properties in configuration(spec).items():
            (conf / file).write_text(configuration_xml({**lab_properties, **properties}))
        yield conf


def main() -> None:
    """Runs what stdin asks for in the lab whose directory is the only argument."""
    spec = LabSpec.model_validate_json((Path(sys.argv[1]) / "spec.json").read_bytes())
    try:
        request = JobRequest.model_validate_json(_first_line())
        emit(Event(kind="ready", text=Runner(spec, request).run().model_dump_json()))
    except (VasError, OSError) as wrong:
        error = disk_error(wrong, spec.state_dir) if isinstance(wrong, OSError) else wrong
        emit(Event(kind="failed", text=str(error)))
        sys.exit(1)


def _first_line() -> bytes:
    # Byte by byte: a buffered reader would swallow the end of stdin that select() waits for.
    line = b""
    while not line.endswith(b"\n") and (byte := os.read(sys.stdin.fileno(), 1)):
        line += byte
    return line


if __name__ == "__main__":
    main()
