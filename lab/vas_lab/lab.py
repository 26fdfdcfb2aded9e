"""Starts a lab, runs jobs in it and ends it, from outside its namespaces.

with Lab.start(LabOptions(hosts=4), tied=True) as lab:
    result = lab.run_job(["teragen", "1000", "/in"])
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from vas_core.errors import BadInput, VasError
from vas_core.files import write_atomically
from vas_core.process import Completed, run
from vas_core.root import Root
from vas_lab.control import ControlAnswer, ControlRequest, ask, socket_path
from vas_lab.disk import disk_error, says_full
from vas_lab.ending import SUPERVISOR, end_lab, end_tied
from vas_lab.enter import in_new_namespaces, into_lab, into_node, with_environment
from vas_lab.health import LabProblem, find_problems
from vas_lab.links.totals import LinkTotals, parse_totals
from vas_lab.lustre.mds import client as mds
from vas_lab.messages import DETACH, JobRequest
from vas_lab.network.topology import plan_topology
from vas_lab.options import LabOptions, prepare
from vas_lab.procfs import children
from vas_lab.spec import LabSpec
from vas_lab.state import Running, hold, is_running, labs_up, name_option, running_file, wipe
from vas_yarn.jobs.events import read_events
from vas_yarn.jobs.job import JobResult, program
from vas_yarn.jobs.place import OnEvent

_CANCEL_TIMEOUT_SECONDS = 60.0


class Lab:
    """A lab that runs; get one by `start` or `attach`. Used by `with`, it is stopped at the end."""

    def __init__(
        self, spec: LabSpec, running: Running, starter: subprocess.Popen[bytes] | None
    ) -> None:
        self.spec = spec
        self.running = running
        self._starter = starter

    @classmethod
    def start(
        cls, options: LabOptions, *, tied: bool = True, on_event: OnEvent = lambda _: None
    ) -> Lab:
        """Starts a lab and returns when all its nodes are up.

        A tied lab ends with this process, however that ends. A start that fails or is interrupted
        leaves no process behind. Raises VasError, with the reason, if the lab does not come up.
        """
        began = time.time()
        spec, process = _launch(options)
        try:
            _until_ready(process, on_event, spec)
            running = Running(
                supervisor=_child_of(process.pid), started=began, up_seconds=time.time() - began
            )
            write_atomically(running_file(spec.state_dir), running.model_dump_json())
            lab = cls(spec, running, process)
            if not tied:
                lab.detach()
        except BaseException:
            end_tied(process)
            raise
        return lab

    @classmethod
    def attach(cls, state_dir: Path) -> Lab:
        """Returns the lab that runs in a directory. Raises VasError if none is up there."""
        option = name_option(state_dir)
        if not is_running(state_dir):
            others = "".join(f", or give --name {name}, which is up" for name in labs_up()[:1])
            hint = f"run `vas lab up{option}`{others}"
            raise VasError("no lab is up", where=str(state_dir), hint=hint)
        noted = running_file(state_dir)
        if not noted.exists():
            hint = f"wait until it is up, or end it by `vas lab down{option}`"
            raise VasError("the lab is starting", where=str(state_dir), hint=hint)
        spec = LabSpec.model_validate_json((state_dir / "spec.json").read_bytes())
        return cls(spec, Running.model_validate_json(noted.read_bytes()), None)

    def detach(self) -> None:
        """Lets the lab live on after this process."""
        if self._starter and self._starter.stdin:
            self._starter.stdin.write(DETACH)
            self._starter.stdin.close()
            self._starter.stdin = None

    def stop(self) -> None:
        """Ends every process of the lab; returns when the last one is gone.

        Raises VasError, or TimeoutExpired in the process that started it, if that takes more than
        20 seconds.
        """
        if self._starter:
            end_tied(self._starter)
        end_lab(self.spec.state_dir)

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def enter(self, argv: Sequence[str], *, node: str | None = None) -> list[str]:
        """Returns the command line that runs a program on a node (default: the ResourceManager's).

        Raises BadInput for a node that the lab does not have, OSError if the lab's files are gone.
        """
        holders: dict[str, int] = json.loads(self.spec.holders_file.read_text())
        variables: dict[str, str] = json.loads(self.spec.environment_file.read_text())
        master = self.spec.cluster.yarn.resourcemanager.name
        if node not in (None, *self.nodes()):
            raise BadInput("no such node", where=node, hint=f"one of {', '.join(self.nodes())}")
        variables["VAS_NODE"] = node or master
        variables["PATH"] += f":{Path(sys.executable).parent}"
        variables["VAS_PROGRAM"] = "vas"
        lab = into_lab(self.running.supervisor, self.spec.user_namespace)
        inner = with_environment(variables, Path.cwd(), argv)
        return [*lab, *into_node(holders.get(node or master)), *inner]

    def link_totals(self, *, drop_caches: bool = False) -> LinkTotals:
        """Returns the bytes of files that crossed links since the lab began, and the waits.

        `drop_caches` empties the page caches of all nodes first. Raises VasError where links are
        free.
        """
        words = ["--drop"] if drop_caches else []
        argv = [sys.executable, "-P", "-m", "vas_lab.links.totals", *words]
        return parse_totals(run(self.enter(argv)).stdout)

    def nodes(self) -> tuple[str, ...]:
        """Returns the names of the lab's nodes: hosts, guests and the ResourceManager's."""
        return plan_topology(self.spec.cluster).nodes

    def call(
        self, argv: Sequence[str], *, node: str | None = None, check: bool = True
    ) -> Completed:
        """Runs a program on a node to its end (default: the ResourceManager's node).

        Raises BadInput for an unknown node, CommandFailed for a status other than 0 if `check`.
        """
        return run(self.enter(argv, node=node), check=check)

    def ask(self, request: ControlRequest) -> ControlAnswer:
        """Asks the supervisor and returns its answer.

        Raises BadInput if it refuses, VasError if it does not answer.
        """
        return ask(self.spec.state_dir, request)

    def metadata_requests(self) -> int:
        """Returns the number of requests to the stand-in's MDS since its start.

        These make files and set or read layouts; open, stat and unlink do not reach it. Raises
        VasError if it does not answer.
        """
        return int(self._mds("asked")["asked"])

    def object_requests(self, *, counting: bool | None = None) -> dict[str, int]:
        """Returns the number of requests to OSTs by kind, one per object of a file; and `opens`.

        All processes of the lab are counted, since counting was last started: `glimpses` (stat),
        `syncs` (fsync), `destroys`, `punches` (truncate), `reads`, `writes` (calls); and files'
        `opens` and the `locks` that programs got, which go to the MDS. Afterwards `counting`
        starts it again (true) or stops it (false). A Lustre client that keeps locks and pages asks
        less. Raises VasError if the MDS does not answer.
        """
        return {kind: int(n) for kind, n in self._mds("count", on=counting).items()}

    def run_job(
        self,
        argv: Sequence[str],
        conf: Mapping[str, str] | None = None,
        *,
        jars: Sequence[Path] = (),
        on_event: OnEvent = lambda _: None,
    ) -> JobResult:
        """Runs a Hadoop program (`teragen 1000 /in`, `dfsio ...`, `FILE.jar ...`) to its end.

        `conf` are properties of its jobs, `jars` come before Hadoop's on its client's class path.
        If this process is interrupted, the jobs are killed. Raises BadInput for an unknown
        program, VasError with the end of the program's output or with what is broken in the lab.
        """
        # Two may start in one second.
        started = f"{time.strftime('%H%M%S')}-{time.time_ns() % 10**9:09d}"
        log = self.spec.logs / f"client-{started}-{Path(argv[0]).name}.log"
        request = JobRequest(
            main=program(tuple(argv), self.spec.logs),
            properties=dict(conf or {}),
            log=log,
            jars=tuple(jars),
        )
        command = [sys.executable, "-P", "-m", "vas_lab.inside.runner", str(self.spec.state_dir)]
        line = request.model_dump_json().encode() + b"\n"
        try:
            with wanted(self.enter(command), line, _CANCEL_TIMEOUT_SECONDS) as process:
                return JobResult.model_validate_json(_finish(process, on_event, log))
        except VasError as failed:
            raise self._cause(failed, log) from failed

    def problems(self) -> list[LabProblem]:
        """Returns what is broken in the lab. Raises VasError if the lab does not answer."""
        return find_problems(self.ask(ControlRequest(ask="status")), self.spec.state_dir)

    def refuse_broken(self) -> None:
        """Raises VasError, with the fix, if anything in the lab is broken."""
        for problem in self.problems():
            raise VasError(problem.what, where=f"lab {self.spec.name}", hint=problem.fix)

    def _mds(self, operation: str, **arguments: Any) -> Any:
        try:
            with socket_path(self.spec.lustre_state, "mds.sock") as path:
                return mds.call(Path(path), operation, **arguments)
        except OSError as silent:
            where = f"lab {self.spec.name}"
            raise VasError(f"the MDS does not answer: {silent}", where=where) from silent

    def _cause(self, failed: VasError, log: Path) -> VasError:
        """Returns the lab's own error if it explains a job's failure better than its output."""
        where = f"lab {self.spec.name}"
        if not is_running(self.spec.state_dir):
            hint = f"see {self.spec.state_dir / 'supervisor.log'}"
            return VasError("ended while a job ran", where=where, hint=hint)
        if log.exists() and says_full(log.read_text(errors="replace")):
            fix = f"free some space at {self.spec.state_dir}, or give less data"
            return VasError("the disk is full", where=where, hint=fix)
        fatal = [problem for problem in self.problems() if problem.stops_jobs]
        return VasError(fatal[0].what, where=where, hint=fatal[0].fix) if fatal else failed


@contextmanager
def wanted(
    argv: Sequence[str], line: bytes, timeout_seconds: float
) -> Iterator[subprocess.Popen[bytes]]:
    """Starts a program, sends it `line`, and yields its process; afterwards closes its stdin.

    That ends the program. One that lives longer than `timeout_seconds` after that is killed. Raises
    VasError then.
    """
    process = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    with process:
        assert process.stdin is not None
        try:
            # One that has ended already says so by the end of its stdout.
            with suppress(BrokenPipeError):
                process.stdin.write(line)
                process.stdin.flush()
            yield process
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
            _wait(process, timeout_seconds)


def _wait(process: subprocess.Popen[bytes], timeout_seconds: float) -> None:
    try:
        process.wait(timeout_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        raise VasError(
            f"a job that was cancelled goes on after {timeout_seconds:g} s",
            hint="`vas lab down` ends it with its lab",
        ) from None


def _launch(options: LabOptions) -> tuple[LabSpec, subprocess.Popen[bytes]]:
    is_new = not options.state_dir.exists()
    try:
        with hold(options.state_dir) as lock:
            spec = prepare(options)
            return spec, _spawn(spec, lock)
    except BaseException as wrong:
        if is_new:
            # Nothing has run there: no log says more than the error does.
            with suppress(VasError):
                wipe(options.state_dir)
        if isinstance(wrong, OSError):
            raise disk_error(wrong, options.state_dir) from wrong
        raise


def _spawn(spec: LabSpec, lock: int) -> subprocess.Popen[bytes]:
    supervisor = [sys.executable, "-P", "-m", SUPERVISOR, str(spec.state_dir)]
    with (spec.state_dir / "supervisor.log").open("wb") as log:
        # A session of its own: the terminal's Ctrl-C is the starter's to handle. The lock is
        # held by the lab's processes from here on, so it says whether the lab runs.
        return subprocess.Popen(
            in_new_namespaces(spec.user_namespace, supervisor),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
            pass_fds=(lock,),
        )


def _until_ready(process: subprocess.Popen[bytes], on_event: OnEvent, spec: LabSpec) -> None:
    _finish(process, on_event, spec.state_dir / "supervisor.log")


def _finish(process: subprocess.Popen[bytes], on_event: OnEvent, log: Path) -> str:
    """Passes events on until the last one, whose text is returned."""
    assert process.stdout is not None
    for event in read_events(process.stdout):
        if event.kind == "failed":
            raise VasError(event.text)
        on_event(event)
        if event.kind == "ready":
            return event.text
    raise VasError(f"ended with status {process.wait()} without a word", hint=f"see {log}")


def _child_of(parent: int) -> int:
    if found := children(Root(), parent):
        return found[0]
    raise VasError("the lab ended as soon as it was up", hint="see `vas lab logs supervisor`")
