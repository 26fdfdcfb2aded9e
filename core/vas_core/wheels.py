"""Builds VAS and the libraries that it pins as wheels, for machines that reach no package index."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from vas_core.distribution import DISTRIBUTION
from vas_core.errors import NotHere
from vas_core.process import run
from vas_core.repository import NEEDS_CLONE, REPOSITORY, is_clone
from vas_core.sbom import file_components

_LOCKS = REPOSITORY / "core/locks"
GUEST_LOCK = _LOCKS / "python-guest.txt"
"""The libraries of a guest: those of VAS without an extra."""
STORAGE_LOCK = _LOCKS / "python-storage.txt"
"""The libraries of a storage server: with the extra `affinity`."""
NODE_LOCK = _LOCKS / "python-node.txt"
"""The libraries of all nodes: with the extras `affinity` and `bench`."""
SITE_LOCK = _LOCKS / "python-site.txt"
"""The libraries of a site's controller and its nodes: with the extra `provision` too."""
_PIP = (sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "-q")
# What libraries are built for: Rocky 9's glibc, the oldest that VAS runs on, is 2.34.
_PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")


def gather_wheels(directory: Path, python: str, lock: Path = NODE_LOCK) -> list[Path]:
    """Writes VAS and the libraries of a lock as wheels for a Python of that version (`3.11`).

    Returns all wheels in `directory`, sorted. Raises VasError if pip fails.
    """
    build_own_wheel(directory)
    download_libraries(directory, python, lock)
    return sorted(directory.glob("*.whl"))


def build_own_wheel(directory: Path, env: Mapping[str, str] | None = None) -> Path:
    """Builds VAS itself as a wheel in `directory`, with the backend that is installed.

    Equal sources and an equal SOURCE_DATE_EPOCH in `env` give equal bytes. Raises NotHere without
    the sources, VasError if pip fails.
    """
    if not is_clone():
        raise NotHere("the sources of VAS are not here", hint=NEEDS_CLONE)
    words = ["--no-deps", "--no-build-isolation", "--no-cache-dir", "--wheel-dir", str(directory)]
    run([*_PIP, "wheel", *words, REPOSITORY], env=env)
    (made,) = directory.glob(f"{DISTRIBUTION.replace('-', '_')}-*.whl")
    return made


def download_libraries(directory: Path, python: str, lock: Path) -> None:
    """Fetches the wheels of a lock from the package index, for a Python of that version.

    Raises VasError if pip fails, which it does for a wheel whose SHA-256 is not the lock's.
    """
    words = [*_for_python(python), "--dest", str(directory)]
    run([*_PIP, "download", *words, "--no-deps", "--require-hashes", "-r", lock])


def install_wheels(wheels: Sequence[Path], python: str, target: Path) -> None:
    """Installs wheels of one directory into `target`, for a Python of that version (`3.11`).

    Nothing is compiled or run, and nothing there depends on where it was made: programs, manual
    pages, and pip's records with the sums of both are left out. Raises VasError if pip fails.
    """
    (directory,) = {wheel.parent for wheel in wheels}
    names = [f"{one.name}=={one.version}" for one in file_components(w.name for w in wheels)]
    words = [*_for_python(python), "--target", str(target), "--find-links", str(directory)]
    run([*_PIP, "install", *words, "--no-index", "--no-deps", "--no-compile", *names])
    for name in ("bin", "share"):
        shutil.rmtree(target / name, ignore_errors=True)
    for record in ("RECORD", "REQUESTED", "INSTALLER"):
        for file in target.glob(f"*.dist-info/{record}"):
            file.unlink()


def _for_python(python: str) -> list[str]:
    platforms = [word for platform in _PLATFORMS for word in ("--platform", platform)]
    return ["--only-binary=:all:", "--python-version", python, *platforms]
