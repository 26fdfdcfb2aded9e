"""What lies in an image beside packages: the tree that both builders lay over the system."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from vas_core.errors import NotHere
from vas_core.process import run
from vas_image.definition import DEFINITION, System

REPOSITORY = Path(__file__).resolve().parents[2]
HADOOP = Path("usr/lib/vas/hadoop")
PLUGINS = Path("usr/lib/vas/plugins")
WHEELS = Path("usr/lib/vas/wheels")
_UNITS = Path("usr/lib/systemd/system")
_JARS = REPOSITORY / "yarn-plugins/hadoop/target/lib"
_PLUGIN_JARS = REPOSITORY / "yarn-plugins/dist/target"
_GUEST_UNITS = (
    "yarn-plugins/systemd/vas-nodemanager.service",
    "yarn-plugins/systemd/vas-shuffle-gc@.service",
    "yarn-plugins/systemd/vas-shuffle-gc@.timer",
    "routing/systemd/vas-routed.service",
)
# What libraries are built for: Rocky 9's glibc, the oldest here, is 2.34.
_PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")


def assemble(directory: Path, system: System) -> None:
    """Lays down `directory` as it is to be in the image: jars, plugins, units, wheels.

    Raises NotHere where Hadoop and the plugins are not built.
    """
    shutil.copytree(DEFINITION / "mkosi.extra", directory, dirs_exist_ok=True)
    _copy(hadoop_jars(), directory / HADOOP)
    _copy([plugin_jar()], directory / PLUGINS)
    _copy([REPOSITORY / unit for unit in _GUEST_UNITS], directory / _UNITS)
    _wheels(directory / WHEELS, system)
    for path in directory.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def hadoop_jars() -> list[Path]:
    """The jars of the assembly that the lab runs too. Raises NotHere."""
    jars = sorted(_JARS.glob("*.jar"))
    if not any(jar.name.startswith("hadoop-common-") for jar in jars):
        raise NotHere("Hadoop's jars are not there", where=str(_JARS), hint="run `vas build`")
    return jars


def plugin_jar() -> Path:
    """The plugins' jar. Raises NotHere."""
    jars = sorted(_PLUGIN_JARS.glob("vas-yarn-plugins-*.jar"))
    if not jars:
        hint = "run `vas build`"
        raise NotHere("the plugins are not built", where=str(_PLUGIN_JARS), hint=hint)
    return jars[-1]


def _copy(files: list[Path], directory: Path) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    for file in files:
        shutil.copyfile(file, directory / file.name)


def _wheels(directory: Path, system: System) -> None:
    """VAS and the libraries that it pins, for the guest's Python: no guest asks a registry."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    words = ["--only-binary=:all:", "--python-version", system.python, "--dest", str(directory)]
    words += [word for platform in _PLATFORMS for word in ("--platform", platform)]
    run([*pip, "wheel", "--no-deps", "--wheel-dir", directory, REPOSITORY])
    wheel = next(directory.glob("vas-*.whl"))
    run([*pip, "download", *words, wheel])
