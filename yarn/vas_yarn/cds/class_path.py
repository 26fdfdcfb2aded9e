"""Splits a class path into its jars and its directories, as a class archive needs them."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput, NotHere
from vas_core.process import run


@dataclass(frozen=True)
class ClassPath:
    """The jars of a class path and its directories, each in their order."""

    jars: tuple[Path, ...]
    directories: tuple[Path, ...]

    @classmethod
    def of(cls, text: str) -> ClassPath:
        """Reads a class path like `a.jar:dir/*:conf`; leaves missing entries out.

        `dir/*` stands for the directory's jars, sorted by name. Raises BadInput without any jar.
        """
        entries = [path for entry in text.split(":") if entry for path in _expanded(entry)]
        # The same jar twice would be two entries of the archive, and one of the JVM.
        jars = tuple(dict.fromkeys(p for p in entries if p.suffix == ".jar" and p.is_file()))
        if not jars:
            raise BadInput(
                "no jar in it", where=f"class path {text[:80]!r}", hint="give --classpath"
            )
        return cls(jars, tuple(dict.fromkeys(path for path in entries if path.is_dir())))


def _expanded(entry: str) -> list[Path]:
    if not entry.endswith("*"):
        return [Path(entry)]
    return sorted(Path(entry).parent.glob("*.jar"))


def hadoop_class_path() -> str:
    """Returns the class path that `hadoop classpath` prints.

    Raises NotHere if `hadoop` is not on PATH, CommandFailed if it fails.
    """
    if shutil.which("hadoop") is None:
        raise NotHere("no program 'hadoop' on PATH", hint="put it there, or give --classpath")
    return run(("hadoop", "classpath")).stdout.strip()


def java_home() -> Path:
    """Returns $JAVA_HOME, or the home of the `java` on PATH. Raises NotHere without one."""
    if home := os.environ.get("JAVA_HOME"):
        return Path(home)
    java = shutil.which("java")
    if java is None:
        raise NotHere("no java on PATH", hint="set JAVA_HOME to a JDK")
    return Path(java).resolve().parent.parent
