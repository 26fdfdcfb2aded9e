"""The list of a release's parts, and the choice of some of them."""

from __future__ import annotations

from collections.abc import Sequence
from shutil import which

from vas_core.errors import BadInput
from vas_core.suggest import suggestion
from vas_release.artefact import Artefact
from vas_release.built_parts import DAEMON, copy_plugins, pack_daemon, pack_hadoop
from vas_release.collection import pack_collection
from vas_release.daemon_packages import daemon_package_for
from vas_release.documents import pack_docs, pack_man, pack_source
from vas_release.families import DEBIAN, RED_HAT, Family
from vas_release.node_packages import node_packages_for
from vas_release.python_parts import build_wheel, dependencies_for

DEPENDENCIES = "dependencies"


def all_parts(pythons: Sequence[str]) -> list[Artefact]:
    """Returns every part, in the order in which they are built.

    `pythons`: versions of Python (`3.11`) for which libraries are fetched.
    """
    return [
        Artefact(
            "source", "vas-{version}-source.tar.gz", "the files of the commit", 6, pack_source
        ),
        Artefact("docs", "vas-docs-{version}.tar.gz", "the pages, as Markdown", 1, pack_docs),
        Artefact("man", "vas-man-{version}.tar.gz", "a man page of each command", 2, pack_man),
        Artefact("wheel", "vas_lustre-{version}-py3-none-any.whl", "VAS itself", 6, build_wheel),
        Artefact("collection", "vas-site-{version}.tar.gz", "Ansible's roles", 1, pack_collection),
        Artefact(
            "plugins", "vas-yarn-plugins-{version}.jar", "the jar for Hadoop", 1, copy_plugins
        ),
        Artefact("hadoop", "vas-hadoop-{version}.tar", "all jars of a node", 3, pack_hadoop),
        Artefact("daemon", DAEMON, "vas-shuffled for nodes' own disks", 1, pack_daemon),
        *_packages(DEBIAN, "for Debian and Ubuntu"),
        *_packages(RED_HAT, "for Rocky 9"),
        Artefact(
            DEPENDENCIES,
            "vas-wheels-{version}.tar",
            "wheels of the libraries, and an archive of them for nodes",
            30,
            dependencies_for(pythons),
            optional=True,
        ),
    ]


def _packages(family: Family, whose: str) -> list[Artefact]:
    """Returns the packages of the daemon, and of the node tools."""
    kind, needs = family.kind, family.packer
    daemon, node = daemon_package_for(family), node_packages_for(family)
    files = (family.file_name(name, "{version}", "*") for name in ("vas-node", "vas-storage"))
    file = family.file_name("vas-shuffled", "{version}", "*")
    return [
        Artefact(kind, file, f"vas-shuffled {whose}", 2, daemon, needs=needs),
        Artefact(f"node-{kind}", ", ".join(files), f"node tools {whose}", 90, node, needs=needs),
    ]


def chosen_parts(parts: Sequence[Artefact], only: Sequence[str], asked: set[str]) -> list[Artefact]:
    """Returns the parts named in `only`, or all that are not optional; and those of `asked`.

    Raises BadInput for a name that is not a part's.
    """
    names = [part.name for part in parts]
    for name in only:
        if name not in names:
            raise BadInput(
                "is not a part of a release", where=name, hint=suggestion(name, names, "parts are")
            )
    usual = set(only) or {part.name for part in parts if not part.optional}
    return [part for part in parts if part.name in usual | asked]


def lacking(parts: Sequence[Artefact]) -> dict[str, str]:
    """Returns part -> the program that makes it, for each whose program is not on PATH."""
    return {part.name: part.needs for part in parts if part.needs and not which(part.needs)}
