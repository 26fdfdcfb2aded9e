"""Packs a tree as a package of Debian and Ubuntu, by dpkg-deb."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from vas_core.process import run
from vas_release import scripts
from vas_release.system_package import MAINTAINER, SystemPackage
from vas_release.tree import PackageTree

# The blocks of several threads are packed in another way than those of one.
_ENVIRONMENT = {"DPKG_DEB_THREADS_MAX": "1"}
_CONTROL = "DEBIAN"


def write_deb(package: SystemPackage, tree: PackageTree, file: Path, epoch: int) -> None:
    """Writes a package; `tree` gets its control files.

    Equal trees and an equal `epoch` give equal bytes. Raises NotHere without dpkg-deb, VasError if
    it fails.
    """
    sums = _md5sums(tree)
    size_kib = sum(-(-file.stat().st_size // 1024) for file in tree.files())
    tree.write(f"{_CONTROL}/control", _control(package, size_kib))
    tree.write(f"{_CONTROL}/md5sums", sums)
    for name, text in _scripts(package).items():
        if text:
            tree.write(f"{_CONTROL}/{name}", f"#!/bin/sh\nset -e\n{text}", runs=True)
    tree.settle(epoch)
    environment = {**os.environ, **_ENVIRONMENT, "SOURCE_DATE_EPOCH": str(epoch)}
    words = ["--root-owner-group", "-Zxz", "--build", str(tree.root), str(file)]
    run(["dpkg-deb", *words], env=environment)


def _scripts(package: SystemPackage) -> dict[str, str]:
    installed = scripts.installed(package, '[ -n "$2" ]')
    removed = scripts.before_removal(package)
    return {
        "postinst": installed and f'[ "$1" = configure ] || exit 0\n{installed}',
        "prerm": removed and f'[ "$1" = remove ] || exit 0\n{removed}',
        "postrm": scripts.after_removal(package),
    }


def _control(package: SystemPackage, size_kib: int) -> str:
    lines = [
        f"Package: {package.name}",
        f"Version: {package.version}",
        f"Architecture: {package.architecture.deb}",
        f"Maintainer: {MAINTAINER}",
        f"Installed-Size: {size_kib}",
        f"Depends: {', '.join(package.depends)}",
    ]
    lines += [f"Suggests: {', '.join(package.suggests)}"] if package.suggests else []
    lines += ["Section: net", "Priority: optional", f"Description: {package.summary}"]
    lines += [f" {line}" for line in package.text.splitlines()]
    return "".join(f"{line}\n" for line in lines)


def _md5sums(tree: PackageTree) -> str:
    """The list that `dpkg --verify` reads; dpkg knows no better digest."""
    return "".join(
        f"{hashlib.md5(file.read_bytes(), usedforsecurity=False).hexdigest()}"
        f"  {file.relative_to(tree.root)}\n"
        for file in tree.files()
    )
