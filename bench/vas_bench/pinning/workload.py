"""The workload of an experiment: its own pipeline of threads, or a user's command."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from itertools import groupby
from math import isfinite
from pathlib import Path
from typing import NamedTuple, Protocol

from vas_affinity.machine.cpulist import format_cpulist
from vas_bench.pinning.design import PinningArm
from vas_core.compiler import c_compiler
from vas_core.errors import NotHere, VasError
from vas_core.process import run


class Worked(NamedTuple):
    """A run's value, and what the workload counted: measure -> value."""

    value: float
    counts: Mapping[str, float] = {}


class PinningWorkload(Protocol):
    """A workload that an experiment runs."""

    @property
    def metric(self) -> str:
        """The unit of a run's value; more is better."""

    def describe(self) -> str:
        """Returns one line: the program, and the meaning of "pinned"."""

    def run(self, arm: PinningArm) -> Worked:
        """Runs the workload once. Raises VasError when it fails."""


@dataclass(frozen=True)
class Pipeline:
    """The ring of `pipeline.c`, of threads that hand messages on."""

    program: Path
    cpus: tuple[int, ...]
    stages: int
    seconds: float
    transport: str
    messages: int
    message_bytes: int
    metric: str = "messages/s"

    def describe(self) -> str:
        parts = [
            f"{format_cpulist([n for n, _ in group])} on CPU {cpu}"
            for cpu, group in groupby(enumerate(self.places()), key=lambda place: place[1])
        ]
        return (
            f"{self.stages} threads in a ring by {self.transport}, {self.messages} messages of "
            f"{self.message_bytes} bytes under way, {self.seconds:g} s a run; "
            f"pinned: stages {', '.join(parts)}"
        )

    def places(self) -> list[int]:
        """Returns the CPU of each stage: neighbours together, equally many on each CPU."""
        share = self.stages / len(self.cpus)
        return [self.cpus[int(stage / share)] for stage in range(self.stages)]

    def run(self, arm: PinningArm) -> Worked:
        words = (self.stages, self.seconds, self.transport, self.messages, self.message_bytes)
        argv = [str(self.program), *map(str, words)]
        if arm.pinned:
            argv.append(",".join(map(str, self.places())))
        said = run(argv).stdout
        counts = (line.split() for line in said.splitlines()[:-1])
        return Worked(last_number(argv, said), {name: float(value) for name, value in counts})


@dataclass(frozen=True)
class UserCommand:
    """A user's command: the last line of its stdout is the metric.

    VAS_PINNED and VAS_TUNED in its environment are 0 or 1; with `cpus` it is pinned to them.
    """

    argv: tuple[str, ...]
    cpus: tuple[int, ...] | None
    metric: str = "as printed"

    def describe(self) -> str:
        to = f"to CPUs {format_cpulist(self.cpus)}" if self.cpus else "by itself (VAS_PINNED=1)"
        return f"{self.argv[0]}; pinned: {to}"

    def run(self, arm: PinningArm) -> Worked:
        cpus = self.cpus if arm.pinned else None
        with kept_on(cpus):
            done = run(self.argv, env=_environment(arm))
        return Worked(last_number(self.argv, done.stdout))


def check_command(argv: Sequence[str]) -> None:
    """Raises NotHere for a program that is not there."""
    if shutil.which(argv[0]) is None:
        hint = "give a program on PATH, or its path"
        raise NotHere(f"no program {argv[0]}", where="affinity experiment", hint=hint)


def last_number(argv: Sequence[str], stdout: str) -> float:
    """Returns the number in the last line. Raises VasError when it is not a number."""
    lines = stdout.strip().splitlines()
    try:
        metric = float(lines[-1])
        if not isfinite(metric):
            raise ValueError(metric)
        return metric
    except (IndexError, ValueError):
        last = lines[-1] if lines else ""
        what = f"the last line of its output is not a number: {last!r}"
        raise VasError(what, where=argv[0], hint="print the metric last") from None


def compile_pipeline(directory: Path) -> Path:
    """Compiles the pipeline into a directory, and returns the program.

    Raises NotHere without a C compiler, CommandFailed when it fails.
    """
    hint = "give a COMMAND of your own, or install gcc"
    source = files(__package__).joinpath("pipeline.c")
    return compile_workload(source, directory, where="affinity experiment", hint=hint)


def compile_workload(source: Traversable, directory: Path, *, where: str, hint: str) -> Path:
    """Compiles a C file with threads into a directory, and returns the program.

    Raises NotHere, with `where` and `hint`, without a C compiler; CommandFailed when it fails.
    """
    compiler = c_compiler(where=where, hint=hint)
    program = directory / Path(source.name).stem
    with as_file(source) as file:
        run([compiler, "-std=gnu11", "-O2", "-o", program, file, "-lpthread"])
    return program


@contextmanager
def kept_on(cpus: Sequence[int] | None) -> Iterator[None]:
    """Pins this process to the CPUs during the body: programs that it starts inherit that.

    With None nothing is pinned. Raises OSError for CPUs that it may not use.
    """
    before = os.sched_getaffinity(0)
    if cpus:
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _environment(arm: PinningArm) -> Mapping[str, str]:
    flags = {"VAS_PINNED": arm.pinned, "VAS_TUNED": arm.tuned}
    return {**os.environ, **{name: str(int(flag)) for name, flag in flags.items()}}
