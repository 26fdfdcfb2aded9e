"""Measures pairs of CPUs with the program of `pingpong.c`."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from pathlib import Path
from statistics import median

from vas_affinity.machine.measure.result import CpuPair
from vas_core.compiler import c_compiler
from vas_core.errors import VasError
from vas_core.process import run

_OPTIONS = ("-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread")
_PAIR_SECONDS = 60


@contextmanager
def built() -> Iterator[Path]:
    """Compiles the program, and removes it at the end. Raises NotHere without a C compiler."""
    compiler = c_compiler(where="affinity measure")
    with (
        tempfile.TemporaryDirectory(prefix="vas-pingpong-") as directory,
        as_file(files("vas_affinity.machine.measure") / "pingpong.c") as source,
    ):
        program = Path(directory) / "pingpong"
        run([compiler, *_OPTIONS, "-o", program, source])
        yield program


def measure_pair(program: Path, a: int, b: int, *, rounds: int, samples: int) -> CpuPair:
    """Measures the latency between two CPUs in nanoseconds.

    Raises CommandFailed if a thread cannot be pinned to them, VasError for a strange output.
    """
    words = (program, str(a), str(b), str(rounds), str(samples))
    said = run(words, timeout_seconds=_PAIR_SECONDS).stdout.split()
    if len(said) != samples:
        raise VasError(f"printed {len(said)} samples instead of {samples}", where="pingpong")
    found = [float(word) for word in said]
    return CpuPair(a=a, b=b, ns=median(found), least_ns=min(found), most_ns=max(found))
