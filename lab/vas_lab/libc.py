"""Builds the library that makes libc's calls behave as on a Lustre client."""

from __future__ import annotations

import shutil
from pathlib import Path

from vas_core.errors import NotHere, VasError
from vas_core.process import run

_WARNINGS = ("-Wall", "-Wextra", "-Werror")
_SOURCE = "lustre_preload.c"


def source_path() -> Path:
    """Where the C source lies. Raises VasError when only the wheel is installed."""
    path = Path(__file__).resolve().parent.parent / "libc" / _SOURCE
    if not path.is_file():
        raise VasError("the lab's C source is missing", where=str(path), hint="run from a checkout")
    return path


def library_path(state_dir: Path) -> Path:
    """Where `build` puts the library."""
    return state_dir / "liblustre_preload.so"


def build(state_dir: Path) -> Path:
    """Compiles the library unless it is newer than its source; returns its path.

    Raises NotHere without a C compiler.
    """
    source, library = source_path(), library_path(state_dir)
    if library.is_file() and library.stat().st_mtime > source.stat().st_mtime:
        return library
    compiler = next((name for name in ("cc", "gcc", "clang") if shutil.which(name)), None)
    if compiler is None:
        raise NotHere("no C compiler on PATH", where="lab", hint="install gcc and libc6-dev")
    state_dir.mkdir(parents=True, exist_ok=True)
    # A running process has the old file mapped: build beside it, then rename.
    fresh = library.with_suffix(".new")
    options = ["-std=gnu11", "-O2", "-fPIC", "-shared", *_WARNINGS]
    run([compiler, *options, "-o", fresh, source, "-ldl", "-lpthread"])
    fresh.rename(library)
    return library
