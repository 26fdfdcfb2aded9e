"""What the controller hands to nodes, each as one file: VAS as wheels, Hadoop and the plugins.

Two archives of the same content are the same bytes, so a node can tell by the digest.
"""

from __future__ import annotations

import sys
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from vas_core.errors import NotHere
from vas_core.process import run

REPOSITORY = Path(__file__).resolve().parents[2]
# Debian 12's own Python, and the one that Rocky 9 has beside its own; and what their libraries are
# built for: Rocky 9's glibc, the older one, is 2.34.
_PYTHON = "3.11"
_PLATFORMS = ("manylinux2014_x86_64", "manylinux_2_17_x86_64", "manylinux_2_28_x86_64")


def archive_wheels(archive: Path) -> int:
    """Writes VAS and the libraries that it pins, from the package index; returns how many."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
    words = ["--only-binary=:all:", "--python-version", _PYTHON]
    words += [word for platform in _PLATFORMS for word in ("--platform", platform)]
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        run([*pip, "wheel", "--no-deps", "--wheel-dir", directory, REPOSITORY])
        own = next(directory.glob("vas-*.whl"))
        run([*pip, "download", *words, "--dest", directory, own])
        return pack(archive, {f"wheels/{wheel.name}": wheel for wheel in directory.glob("*.whl")})


def archive_hadoop(archive: Path) -> int:
    """Writes the jars that the lab runs too; returns how many. Raises NotHere before a build."""
    hadoop = REPOSITORY / "yarn-plugins/hadoop/target/lib"
    plugins = REPOSITORY / "yarn-plugins/dist/target"
    found = {
        **_named("hadoop", hadoop.glob("*.jar")),
        **_named("plugins", plugins.glob("vas-yarn-plugins-*.jar")),
    }
    if not any(name.startswith("plugins/") for name in found) or len(found) < 2:
        raise NotHere("Hadoop and the plugins are not built", where=str(plugins), hint=_BUILD)
    return pack(archive, found)


_BUILD = "run `vas build`"


def _named(directory: str, files: Iterable[Path]) -> dict[str, Path]:
    return {f"{directory}/{file.name}": file for file in files}


def pack(archive: Path, files: dict[str, Path]) -> int:
    """Writes a tar of files by their names in it, root's, without times; returns how many."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    temporary = archive.with_name(f".{archive.name}.new")
    with tarfile.open(temporary, "w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(files):
            tar.add(files[name], name, filter=_plain)
    temporary.rename(archive)
    return len(files)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = "root"
    member.mode = 0o644
    return member
