"""Starts programs on several ranks of an MPI of this machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from vas_a2av.building import MpiKind
from vas_a2av.ending import interrupted_by_signals
from vas_core.errors import BadInput
from vas_core.process import Completed, run

# By default ranks that wait poll, and take the time of those that they wait for.
_PATIENT_OPEN_MPI = {
    "mpi_yield_when_idle": "1",
    # Open MPI 5 knows these two, 4 passes over them.
    "threads_pthreads_yield_strategy": "nanosleep",
    "threads_pthreads_nanosleep_time": "1000",
}
# MPICH 5 knows them; MPICH 4 has nothing like them.
_PATIENT_MPICH = {
    "MPIR_CVAR_ENABLE_HEAVY_YIELD": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE": "1",
    "MPIR_CVAR_CH4_PROGRESS_THROTTLE_NO_PROGRESS_COUNT": "16",
}


def launch(
    kind: MpiKind,
    ranks: int,
    argv: Sequence[str | Path],
    *,
    environment: Mapping[str, str] | None = None,
    timeout_seconds: float = 300.0,
    check: bool = True,
) -> Completed:
    """Runs a program on so many ranks, more than there are cores if need be.

    `environment`: variables for the program, besides this process's. Raises CommandFailed when the
    program fails (unless `check` is false) or takes too long.
    """
    variables = dict(environment or {})
    if kind.libraries:
        others = os.environ.get("LD_LIBRARY_PATH", "")
        variables["LD_LIBRARY_PATH"] = f"{kind.libraries}:{others}".rstrip(":")
    # As many ranks as cores poll, which is what `vas a2av tune` measures.
    crowded = ranks > len(os.sched_getaffinity(0))
    if kind.is_open_mpi:
        words = [kind.launcher, "--oversubscribe"]
        settings = _PATIENT_OPEN_MPI if crowded else {"mpi_yield_when_idle": "1"}
        words += [word for setting in settings.items() for word in ("--mca", *setting)]
        # Open MPI asks root to say so.
        words += ["--allow-run-as-root"] if os.geteuid() == 0 else []
        words += [word for name, value in variables.items() for word in ("-x", f"{name}={value}")]
    else:
        variables |= _PATIENT_MPICH if crowded else {}
        words = [kind.launcher]
        words += [word for name, value in variables.items() for word in ("-env", name, value)]
    command = [*words, "-n", str(ranks), *argv]
    with interrupted_by_signals():
        return run(command, check=check, timeout_seconds=timeout_seconds)


def launch_by(
    launcher: Sequence[str], argv: Sequence[str | Path], *, prints: str, timeout_seconds: float
) -> Completed:
    """Runs a program by a user's launcher, which decides how many ranks it has, and where.

    Raises CommandFailed when it fails or takes too long, BadInput when `prints`, a word that the
    program always prints, is missing.
    """
    with interrupted_by_signals():
        done = run([*launcher, *argv], timeout_seconds=timeout_seconds)
    if prints not in done.stdout:
        what = f"{' '.join(launcher)!r} did not start the program that follows it"
        raise BadInput(what, where="--launcher", hint="such as 'srun -N 2 -n 2'")
    return done
