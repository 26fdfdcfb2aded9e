"""Takes what `vas build` has made: the plugins' jar, Hadoop's jars, and the shuffle's daemon."""

from __future__ import annotations

import platform
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from vas_ansible.archives import archive_hadoop
from vas_ansible.audit import locked_crates
from vas_core.errors import NotHere, VasError
from vas_core.sbom import SbomComponent
from vas_release.artefact import ReleaseFile
from vas_release.source import ReleaseSource
from vas_release.tarball import write_tarball
from vas_yarn.jars import find_plugins

DAEMON = f"vas-shuffled-{{version}}-linux-{platform.machine()}.tar.gz"
_BUILT = "build/plugins-built"
_JAVA = ("yarn-plugins", "cluster/cluster.schema.json")
DAEMON_PROGRAM = "shuffled/target/release/vas-shuffled"
_SHADED = re.compile(r"<include>(?!org\.vas:)([\w.-]+):([\w.-]+)</include>")
_HINT = "run `vas build`"


def copy_plugins(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
    """Copies the one jar to install; its bill lists the libraries that are shaded into it.

    Raises NotHere before a build, VasError for a jar of other sources or of another version.
    """
    check_fresh(source, _BUILT, [file for file in source.tracked(*_JAVA) if _is_java(file)])
    jar = find_plugins()
    if jar.name != f"vas-yarn-plugins-{source.version}.jar":
        raise VasError(f"is not of version {source.version}", where=str(jar), hint=_HINT)
    copy = directory / jar.name
    shutil.copyfile(jar, copy)
    pom = (source.repository / "yarn-plugins/dist/pom.xml").read_text()
    lock = (source.repository / "core/locks/maven.sha256").read_text()
    yield ReleaseFile(copy, tuple(shaded_libraries(pom, lock)))


def pack_hadoop(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
    """Packs the jars that a node gets, as `vas provision hadoop` does."""
    check_fresh(source, _BUILT, [file for file in source.tracked(*_JAVA) if _is_java(file)])
    archive = directory / f"vas-hadoop-{source.version}.tar"
    archive_hadoop(archive)
    yield ReleaseFile(archive, None)


def pack_daemon(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
    """Packs vas-shuffled with its licence and those of the crates in it."""
    check_daemon(source)
    archive = directory / DAEMON.format(version=source.version)
    top = f"vas-shuffled-{source.version}"
    files = (DAEMON_PROGRAM, "LICENSE", "core/locks/licences.tsv")
    members = {f"{top}/{Path(name).name}": source.repository / name for name in files}
    write_tarball(archive, members, source.epoch)
    yield ReleaseFile(archive, daemon_components(source))


def check_daemon(source: ReleaseSource) -> None:
    """Raises NotHere if vas-shuffled is not built, VasError if it is older than a source."""
    check_fresh(source, DAEMON_PROGRAM, source.tracked("shuffled", "core/bootstrap/native.bash"))


def daemon_components(source: ReleaseSource) -> tuple[SbomComponent, ...]:
    """Returns the crates that vas-shuffled is built from, by the lock."""
    return tuple(locked_crates((source.repository / "shuffled/Cargo.lock").read_text()))


def check_fresh(source: ReleaseSource, made: str, sources: list[Path]) -> None:
    """Raises NotHere for a build that was not made, VasError for one older than a source."""
    built = source.repository / made
    if not built.exists():
        raise NotHere("is not built", where=str(built), hint=_HINT)
    when = built.stat().st_mtime
    for name in sources:
        if (source.repository / name).stat().st_mtime > when:
            raise VasError("has changed since the last build", where=str(name), hint=_HINT)


def shaded_libraries(pom: str, lock: str) -> Iterator[SbomComponent]:
    """Yields the libraries that a POM shades into its jar, with the lock's version and SHA-256.

    Raises VasError for a library that the lock does not have in exactly one version.
    """
    for group, name in _SHADED.findall(pom):
        path = re.escape(f"{group.replace('.', '/')}/{name}/")
        found = re.findall(rf"^([0-9a-f]{{64}})  {path}([^/]+)/[^/]+\.jar$", lock, re.MULTILINE)
        if len(found) != 1:
            hint = "core/locks/record writes it"
            raise VasError(f"the lock has {len(found)} versions, not 1", where=name, hint=hint)
        yield SbomComponent("maven", name, found[0][1], sha256=found[0][0])


def _is_java(file: Path) -> bool:
    """Tells what `./vas build` looks at (core/bootstrap/plugins.bash)."""
    return "src" in file.parts or file.name == "pom.xml" or file.suffix == ".json"
