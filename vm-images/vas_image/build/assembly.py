"""Gathers the tree that both builders put over the system: jars, plugins, units, wheels."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from vas_core.repository import REPOSITORY
from vas_core.wheels import GUEST_LOCK, gather_wheels
from vas_image.definition import DEFINITION, System
from vas_yarn.jars import find_hadoop, find_plugins

HADOOP = Path("usr/lib/vas/hadoop")
PLUGINS = Path("usr/lib/vas/plugins")
WHEELS = Path("usr/lib/vas/wheels")
_UNITS = Path("usr/lib/systemd/system")
_GUEST_UNITS = (
    "yarn/systemd/vas-nodemanager.service",
    "yarn/systemd/vas-shuffle-gc@.service",
    "yarn/systemd/vas-shuffle-gc@.timer",
    "routing/systemd/vas-routed.service",
)


def assemble(directory: Path, system: System) -> None:
    """Fills `directory` with the files that an image has in addition to packages.

    Raises NotHere if Hadoop or the plugins are not built, VasError if pip fails, OSError if a file
    cannot be copied.
    """
    shutil.copytree(DEFINITION / "mkosi.extra", directory, dirs_exist_ok=True)
    _copy(find_hadoop().glob("*.jar"), directory / HADOOP)
    _copy([find_plugins()], directory / PLUGINS)
    _copy([REPOSITORY / unit for unit in _GUEST_UNITS], directory / _UNITS)
    wheels = directory / WHEELS
    wheels.mkdir(parents=True)
    gather_wheels(wheels, system.python, GUEST_LOCK)
    for path in directory.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _copy(files: Iterable[Path], directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, directory / file.name)
