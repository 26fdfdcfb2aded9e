"""Packs vas-shuffled, the daemon for map output on nodes' own disks, for a family of distributions.

The NodeManager starts the daemon, so the package has neither a unit nor a user nor scripts.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from vas_release.artefact import ReleaseFile
from vas_release.built_parts import DAEMON_PROGRAM, check_daemon, daemon_components
from vas_release.families import Family
from vas_release.source import ReleaseSource
from vas_release.system_package import SystemPackage, architecture_here, oldest_glibc
from vas_release.tree import PackageTree

_NAME = "vas-shuffled"
_DOC = f"usr/share/doc/{_NAME}"


def daemon_package_for(family: Family) -> Callable[[ReleaseSource, Path], Iterator[ReleaseFile]]:
    """Returns the builder of the daemon's package; it needs the daemon built before."""

    def build(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
        check_daemon(source)
        program = source.repository / DAEMON_PROGRAM
        package = SystemPackage(
            name=_NAME,
            version=source.version,
            architecture=architecture_here(),
            summary="serves Hadoop's map output from nodes' own disks",
            text="The daemon of VAS that a NodeManager starts on each node.",
            depends=family.needs_of_compiled(oldest_glibc([program.read_bytes()])),
        )
        with tempfile.TemporaryDirectory() as name:
            tree = PackageTree(Path(name, "tree"))
            tree.copy(f"usr/bin/{_NAME}", program)
            tree.copy(f"{_DOC}/copyright", source.repository / "LICENSE")
            tree.copy(f"{_DOC}/licences.tsv", source.repository / "core/locks/licences.tsv")
            file = family.write(package, tree, directory, source.epoch)
        yield ReleaseFile(file, daemon_components(source))

    return build
