"""Builds the preloaded library, with which libc's calls behave as on a Lustre client."""

from __future__ import annotations

import tempfile
from pathlib import Path

from vas_core.compiler import c_compiler
from vas_core.errors import VasError
from vas_core.process import run

_WARNINGS = ("-Wall", "-Wextra", "-Werror")


def sources() -> list[Path]:
    """Returns the library's C files and headers. Raises VasError if only the wheel is installed."""
    directory = Path(__file__).resolve().parents[2] / "libc"
    found = sorted(directory.glob("*.[ch]"))
    if not found:
        raise VasError("no C source", where=str(directory), hint="run from a checkout")
    return found


def library_path(state_dir: Path) -> Path:
    """Returns the path at which `build` puts the library."""
    return state_dir / "liblustre_preload.so"


def build(state_dir: Path) -> Path:
    """Compiles the library unless it is newer than its sources; returns its path.

    Raises NotHere without a C compiler, VasError if its sources are missing or do not compile.
    """
    library, newest = library_path(state_dir), max(path.stat().st_mtime for path in sources())
    if library.is_file() and library.stat().st_mtime > newest:
        return library
    compiler = c_compiler(where="lab", hint="install gcc and libc6-dev")
    state_dir.mkdir(parents=True, exist_ok=True)
    # A running process has the old file mapped: build beside it, then rename.
    units = [path for path in sources() if path.suffix == ".c"]
    options = ["-std=gnu11", "-O2", "-fPIC", "-shared", *_WARNINGS]
    with tempfile.TemporaryDirectory(dir=state_dir) as work:
        fresh = Path(work, library.name)
        run([compiler, *options, "-o", fresh, *units, "-ldl", "-lpthread"])
        fresh.rename(library)
    return library
