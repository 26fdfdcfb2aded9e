"""The files of the packages `vas-node` and `vas-storage` besides their Python libraries."""

from __future__ import annotations

import gzip
import tempfile
from pathlib import Path, PurePosixPath

from vas_core.cli import vas
from vas_core.manual.man import write_man_pages
from vas_release import roles
from vas_release.families import Family
from vas_release.source import ReleaseSource
from vas_release.tree import PackageTree

USERS = "vas.conf"
# Program -> the command that it runs, whose page describes it.
_DAEMONS = {"vas-routed": "vas-route-daemon", "vas-affinityd": "vas-affinity-daemon"}
_IMAGE_USERS = "vm-images/guest/mkosi.extra/usr/lib/sysusers.d/vas.conf"
_UNITS = "usr/lib/systemd/system"
_PRESETS = "usr/lib/systemd/system-preset"
_MAN = "usr/share/man/man1"
_HOOKS = "usr/lib/vas/libvirt"


def add_units(tree: PackageTree, package: str, of_roles: tuple[str, ...]) -> tuple[str, ...]:
    """Adds the units of roles, and a preset that leaves them off; returns their names."""
    units = roles.units_of(of_roles)
    for name, file in units.items():
        tree.copy(f"{_UNITS}/{name}", file)
    off = "".join(f"disable {name}\n" for name in units)
    tree.write(f"{_PRESETS}/50-{package}.preset", f"# Off until a site is configured.\n{off}")
    return tuple(units)


def add_papers(tree: PackageTree, source: ReleaseSource, package: str, licences: str) -> None:
    """Adds the licence, the licences of the libraries, and the list of changes."""
    place = f"usr/share/doc/{package}"
    tree.copy(f"{place}/copyright", source.repository / "LICENSE")
    tree.copy(f"{place}/CHANGELOG.md", source.repository / "CHANGELOG.md")
    tree.write(f"{place}/licences.tsv", licences)


def add_node_files(tree: PackageTree, source: ReleaseSource, family: Family) -> None:
    """Adds users, manual pages, the modulefile and Hadoop's commands, and the site's directory."""
    tree.copy(f"usr/lib/sysusers.d/{USERS}", source.repository / _IMAGE_USERS)
    tree.make_directory("etc/vas")
    with tempfile.TemporaryDirectory() as name:
        for page in write_man_pages(vas, "vas", source.version, Path(name)):
            packed = gzip.compress(page.read_bytes(), mtime=0)
            tree.write(f"{_MAN}/{page.name}.gz", packed)
    hadoop = roles.hadoop_of_nodes()
    tree.write(f"{family.modulefiles}/vas", hadoop.modulefile)
    top = _below(hadoop.directory)
    tree.write(_below(hadoop.program), hadoop.script, runs=True)
    tree.copy(f"{top}/log4j.properties", hadoop.logging)
    for command in hadoop.commands:
        tree.link(f"{top}/bin/{command}", f"../{hadoop.program.name}")


def add_hook(tree: PackageTree) -> None:
    """Adds libvirt's hook, where libvirt does not look: whoever wants it copies it to its place."""
    hook = roles.libvirt_hook()
    tree.copy(f"{_HOOKS}/{hook.name}", hook)


def link_pages(tree: PackageTree, programs: tuple[str, ...]) -> None:
    """Links a daemon's manual page to that of the command that it runs."""
    for program in programs:
        if program in _DAEMONS:
            tree.link(f"{_MAN}/{program}.1.gz", f"{_DAEMONS[program]}.1.gz")


def _below(path: PurePosixPath) -> str:
    return str(path.relative_to("/"))
