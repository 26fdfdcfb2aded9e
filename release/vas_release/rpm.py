"""Packs a tree as a package of Rocky 9, by rpmbuild."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from vas_core.process import run
from vas_release import scripts
from vas_release.system_package import SystemPackage
from vas_release.tree import PackageTree

RELEASE = "1"
"""Number of the packaging of a version: each has one."""
# The package is what the tree is: nothing is stripped, compiled or searched for what it needs; and
# neither the builder's name nor the time of the build is in it.
_MACROS = {
    "_buildhost": "localhost",
    "use_source_date_epoch_as_buildtime": "1",
    "clamp_mtime_to_source_date_epoch": "1",
    "_build_id_links": "none",
    "debug_package": "%{nil}",
    "__os_install_post": "%{nil}",
    # xz is read by every rpm; its threads would pack in blocks.
    "_binary_payload": "w6.xzdio",
    "_rpmformat": "4",
}


def write_rpm(package: SystemPackage, tree: PackageTree, file: Path, epoch: int) -> None:
    """Writes a package.

    Equal trees and an equal `epoch` give equal bytes. Raises NotHere without rpmbuild, VasError if
    it fails.
    """
    tree.settle(epoch)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        spec = work / f"{package.name}.spec"
        spec.write_text(_spec(package, tree))
        macros = _MACROS | {"_topdir": str(work / "top"), "_rpmdir": str(work / "made")}
        defined = [word for key, value in macros.items() for word in ("-D", f"{key} {value}")]
        target = ["--target", f"{package.architecture.rpm}-linux"]
        words = [*target, *defined, "--buildroot", str(work / "root"), str(spec)]
        run(
            ["rpmbuild", "-bb", "--quiet", *words],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)},
        )
        (made,) = (work / "made").rglob("*.rpm")
        shutil.move(made, file)


def _spec(package: SystemPackage, tree: PackageTree) -> str:
    head = [
        f"Name: {package.name}",
        f"Version: {package.version}",
        f"Release: {RELEASE}",
        f"Summary: {package.summary}",
        "License: Apache-2.0",
        # Libraries of the package itself are neither offered to others nor asked from them.
        "AutoReqProv: no",
        *(f"Requires: {name}" for name in package.depends),
        *(f"Suggests: {name}" for name in package.suggests),
        f"%description\n{package.text}",
        # rpmbuild empties the build root before this.
        f"%install\ncp -a -- '{tree.root}/.' %{{buildroot}}/",
    ]
    parts = {
        "post": scripts.installed(package, '[ "$1" -gt 1 ]'),
        "preun": _if_removed(scripts.before_removal(package)),
        "postun": scripts.after_removal(package),
    }
    head += [f"%{name}\n{text}" for name, text in parts.items() if text]
    head += ["%files", "%defattr(-,root,root)", *_files(tree)]
    return "\n".join(head) + "\n"


def _if_removed(text: str) -> str:
    return text and f'[ "$1" -eq 0 ] || exit 0\n{text}'


def _files(tree: PackageTree) -> Iterator[str]:
    """Lists files, and the directories that no other package has, such as /usr/lib/vas."""
    for path in sorted(tree.root.rglob("*")):
        name = "/" + str(path.relative_to(tree.root))
        if not path.is_dir() or path.is_symlink():
            yield f'"{name}"'
        elif any("vas" in part for part in path.relative_to(tree.root).parts):
            yield f'%dir "{name}"'
