"""Builds the C library and its programs by make, for one MPI."""

from __future__ import annotations

import fcntl
import shutil
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import NotHere
from vas_core.process import run
from vas_core.repository import REPOSITORY

SOURCES = REPOSITORY / "alltoallv"
BUILT = REPOSITORY / "build" / "alltoallv"
_TIMEOUT_SECONDS = 300.0
_ELSEWHERE = "load what its compiler needs, such as its module"


@dataclass(frozen=True)
class MpiKind:
    """An MPI that the library is built for, by the names or paths of its programs.

    `family`: `openmpi`, or `mpich` for all whose launcher takes MPICH's options. `package`: the
    packages of Debian 12 that have it; empty for an MPI that is elsewhere. `libraries`: the
    directory of its shared libraries, where the loader does not look by itself.
    """

    name: str
    family: str
    compiler: str
    launcher: str
    package: str
    libraries: str = ""

    @property
    def is_open_mpi(self) -> bool:
        """Tells whether the launcher of this MPI takes Open MPI's options."""
        return self.family == "openmpi"


OPEN_MPI = MpiKind(
    "openmpi", "openmpi", "mpicc.openmpi", "mpiexec.openmpi", "libopenmpi-dev openmpi-bin"
)
MPICH = MpiKind("mpich", "mpich", "mpicc.mpich", "mpiexec.mpich", "libmpich-dev mpich")
MPIS = {kind.name: kind for kind in (OPEN_MPI, MPICH)}
SIMULATED = MpiKind("simgrid", "simgrid", "smpicc", "smpirun", "libsimgrid-dev")


def is_installed(kind: MpiKind) -> bool:
    """Returns whether the compiler, the launcher and the headers of this MPI are here."""
    if not (shutil.which(kind.compiler) and shutil.which(kind.launcher)):
        return False
    include = "#include <mpi.h>\n"
    # SimGrid's wrapper compiles files only; its headers are in the same package.
    return (
        kind is SIMULATED
        or not run([kind.compiler, "-E", "-x", "c", "-"], stdin=include, check=False).status
    )


def installed_mpis() -> list[MpiKind]:
    """Returns the MPIs that are installed. Raises NotHere when there is none."""
    found = [kind for kind in MPIS.values() if is_installed(kind)]
    if not found:
        hint = "on Debian 12, apt-get install libmpich-dev mpich, or libopenmpi-dev openmpi-bin"
        raise NotHere("neither Open MPI nor MPICH can compile a program", where="a2av", hint=hint)
    return found


def require(kind: MpiKind) -> None:
    """Raises NotHere when this MPI is not installed."""
    if not is_installed(kind):
        raise NotHere(
            f"{kind.compiler} and {kind.launcher} are not installed, or cannot compile",
            where="a2av",
            hint=f"on Debian 12, apt-get install {kind.package}" if kind.package else _ELSEWHERE,
        )


def build_for(kind: MpiKind, *targets: str, sanitize: str = "") -> Path:
    """Builds the library, or files by their names, and returns the directory they are in.

    `sanitize`: sanitizers for gcc's -fsanitize; what is built with them has its own directory.
    Raises CommandFailed with the compiler's words, NotHere without make or the MPI.
    """
    require(kind)
    directory = BUILT / (f"{kind.name}-{sanitize.replace(',', '-')}" if sanitize else kind.name)
    words: list[str | Path] = [
        f"MPICC={kind.compiler}",
        f"OUT={directory}",
        *(directory / t for t in targets),
    ]
    if sanitize:
        words.append(f"SANITIZE={sanitize}")
    makefile = SOURCES / "Makefile"
    # One at a time: two would write the same files.
    with makefile.open() as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(["make", "-s", "-f", makefile, *words], timeout_seconds=_TIMEOUT_SECONDS)
    return directory
