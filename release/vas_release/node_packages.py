"""Packs the node tools: `vas-node` for every node, `vas-storage` for storage servers besides."""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.wheels import GUEST_LOCK, STORAGE_LOCK, download_libraries
from vas_release import node_tree, program_tree, roles
from vas_release.artefact import ReleaseFile
from vas_release.families import Family
from vas_release.python_parts import locked_wheels, own_wheel, wheel_component
from vas_release.source import ReleaseSource
from vas_release.system_package import X86_64, SystemPackage, compiled, oldest_glibc
from vas_release.tree import PackageTree

Wheels = Mapping[str, Sequence[Path]]
"""Version of Python -> the wheels for it."""


@dataclass(frozen=True)
class NodeTools:
    """One of the two packages: whose roles' units it has, and its words."""

    name: str
    roles: tuple[str, ...]
    summary: str
    text: str


NODE = NodeTools(
    "vas-node",
    ("guest_base", "hadoop", "route_switcher"),
    "VAS on a node: the program, the routes, units of YARN's daemons",
    "MapReduce in virtual machines on the storage servers of a Lustre file system.\n"
    "Programs vas and vas-routed. Every service is off until it is enabled.",
)
STORAGE = NodeTools(
    "vas-storage",
    ("affinity", "monitoring", "storage_host"),
    "VAS on a storage server of Lustre: placement, bridge, statistics of jobs",
    "MapReduce in virtual machines on the storage servers of a Lustre file system.\n"
    "Program vas-affinityd and libvirt's hook. Every service is off until it is enabled.",
)
NODE_TOOLS = (NODE, STORAGE)


def node_packages_for(family: Family) -> Callable[[ReleaseSource, Path], Iterator[ReleaseFile]]:
    """Returns the builder of both packages for a family of distributions.

    It fetches the locked libraries from the package index: no distribution has the pinned versions.
    """

    def build(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
        with tempfile.TemporaryDirectory() as name:
            work = Path(name)
            wheels = {v: fetch_wheels(source, work / v, v) for v in family.pythons}
            for tools in NODE_TOOLS:
                own = {version: _wheels_of(tools, found) for version, found in wheels.items()}
                tree = PackageTree(work / tools.name)
                package = fill(tree, tools, family, source, own)
                file = family.write(package, tree, directory, source.epoch)
                parts = {wheel_component(wheel) for found in own.values() for wheel in found}
                yield ReleaseFile(file, tuple(sorted(parts)))

    return build


def fill(
    tree: PackageTree, tools: NodeTools, family: Family, source: ReleaseSource, wheels: Wheels
) -> SystemPackage:
    """Lays all files of a package into a tree, and returns its name and what it depends on."""
    place = roles.program_directory().parent
    program_tree.add_libraries(tree, place, wheels)
    if tools is NODE:
        program_tree.add_environment(tree, place, roles.python_of(family.name), family.pythons)
        node_tree.add_node_files(tree, source, family)
    else:
        node_tree.add_hook(tree)
    names = programs_of(tools)
    program_tree.add_programs(tree, place, {name: _scripts(source)[name] for name in names})
    node_tree.link_pages(tree, names)
    units = node_tree.add_units(tree, tools.name, tools.roles)
    node_tree.add_papers(tree, source, tools.name, program_tree.licences(tree))
    return _described(tools, family, source, units, oldest_glibc(compiled(tree.files())))


def programs_of(tools: NodeTools) -> tuple[str, ...]:
    """Returns the names of a package's programs: guests', or what only a storage server has."""
    of_guests = roles.programs(of_guests=True)
    if tools is NODE:
        return of_guests
    return tuple(n for n in roles.programs(of_guests=False) if n not in of_guests)


def fetch_wheels(source: ReleaseSource, directory: Path, python: str) -> list[Path]:
    """Builds VAS and fetches the libraries of a storage server; returns the wheels, sorted."""
    download_libraries(directory, python, STORAGE_LOCK)
    own = own_wheel(source, directory.parent)
    shutil.copyfile(own, directory / own.name)
    return sorted(directory.glob("*.whl"))


def _wheels_of(tools: NodeTools, wheels: Sequence[Path]) -> list[Path]:
    """Returns the wheels of a package: those of a guest and VAS itself, or what is left."""
    of_storage = set(locked_wheels(wheels, STORAGE_LOCK)) - set(locked_wheels(wheels, GUEST_LOCK))
    return [wheel for wheel in wheels if (wheel in of_storage) == (tools is STORAGE)]


def _described(
    tools: NodeTools, family: Family, source: ReleaseSource, units: tuple[str, ...], glibc: str
) -> SystemPackage:
    is_node = tools is NODE
    other = () if is_node else (family.same_version(NODE.name, source.version),)
    return SystemPackage(
        name=tools.name,
        version=source.version,
        architecture=X86_64,
        summary=tools.summary,
        text=tools.text,
        depends=(*other, *family.needs_of_node(), *family.needs_of_compiled(glibc)),
        # Only suggested: an installation of libvirt starts it.
        suggests=() if is_node else roles.guests_packages(family.name),
        users=node_tree.USERS if is_node else "",
        units=units,
        restarted=tuple(u for u in roles.restarted_daemons() if u in units),
    )


def _scripts(source: ReleaseSource) -> dict[str, str]:
    project = tomllib.loads((source.repository / "pyproject.toml").read_text())["project"]
    return dict(project["scripts"])
