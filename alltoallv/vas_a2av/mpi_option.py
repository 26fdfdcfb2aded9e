"""The option --mpi: an MPI by its name, or by the directory that it is installed in."""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from vas_a2av.building import MPIS, MpiKind
from vas_core.errors import BadInput
from vas_core.process import run

_IS_OPEN_MPI = "#include <mpi.h>\n#ifdef OPEN_MPI\nvas: openmpi\n#else\nvas: mpich\n#endif\n"
_FAMILY = re.compile(r"^vas: (openmpi|mpich)$", re.MULTILINE)
_CHARS_OF_ERROR = 200
_NOT_FOR_MAKE = re.compile(r"[^\w./+@,=~-]", re.ASCII)


class _MpiType(click.ParamType[MpiKind]):
    name = "mpi"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(sorted(MPIS))}|DIRECTORY]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> MpiKind:
        if isinstance(value, MpiKind):
            return value
        try:
            return MPIS.get(value) or mpi_in(Path(value))
        except BadInput as wrong:
            self.fail(str(wrong), param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        names = [CompletionItem(name) for name in sorted(MPIS) if name.startswith(incomplete)]
        return names or [CompletionItem(incomplete, type="dir")]


class _LauncherType(click.ParamType[tuple[str, ...]]):
    name = "command"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        try:
            words = tuple(shlex.split(value))
        except ValueError as wrong:
            self.fail(f"{value!r}: {str(wrong).lower()}", param, ctx)
        if not words or not shutil.which(words[0]):
            self.fail(f"{value!r} does not begin with a program that is here", param, ctx)
        return words


def launcher_option(text: str) -> Callable[..., Any]:
    """Returns the option --launcher, whose value is the words of a command; no words without it."""
    return click.option("--launcher", type=_LauncherType(), default=(), help=text)


def mpi_option(text: str) -> Callable[..., Any]:
    """Returns the option --mpi, whose value is an MpiKind; `text` is the first part of its help."""
    text += " A directory has bin/mpicc and bin/mpiexec."
    return click.option("--mpi", "kind", type=_MpiType(), help=text)


def mpi_in(directory: Path) -> MpiKind:
    """Returns the MPI that is installed in a directory.

    Its name, by which the library's directory in build/ is called, has the directory's own name and
    a number made of its path. Raises BadInput where there are no wrappers, or they cannot compile.
    """
    root = directory.resolve()
    if strange := _NOT_FOR_MAKE.search(str(root)):
        raise BadInput(f"{str(root)!r} has a {strange[0]!r}, which make cannot take in a path")
    compiler, launcher = root / "bin" / "mpicc", root / "bin" / "mpiexec"
    for program in (compiler, launcher):
        if not os.access(program, os.X_OK) or program.is_dir():
            names = " nor ".join(sorted(MPIS))
            what = f"{str(directory)!r} is neither {names} nor a directory with bin/mpicc and "
            raise BadInput(f"{what}bin/mpiexec: {program} is not a program")
    libraries = next((str(d) for d in (root / "lib64", root / "lib") if any(d.glob("libmpi*"))), "")
    word = re.sub(r"[^a-z0-9.-]+", "-", root.name.lower()).strip("-.") or "mpi"
    number = hashlib.sha256(os.fsencode(root)).hexdigest()[:8]
    programs = (str(compiler), str(launcher))
    return MpiKind(f"{word}-{number}", _family_of(compiler), *programs, "", libraries)


def _family_of(compiler: Path) -> str:
    done = run([compiler, "-E", "-x", "c", "-"], stdin=_IS_OPEN_MPI, check=False)
    found = _FAMILY.search(done.stdout)
    if done.status == 0 and found:
        return found[1]
    said = (done.stderr.strip() or "it printed no program").splitlines()[0]
    raise BadInput(f"{compiler} cannot compile: {said[:_CHARS_OF_ERROR]}")
