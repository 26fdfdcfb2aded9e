"""The two kinds of packages that a release has, and the distributions that they are for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from vas_core.packages import packages
from vas_core.system import KnownSystem
from vas_release import deb, rpm
from vas_release.system_package import SystemPackage
from vas_release.tree import PackageTree

_IP, _PYTHON = "ip", "python:3.11"


@dataclass(frozen=True)
class Family:
    """Distributions with one kind of package.

    `name` is Ansible's, `kind` the end of a package's name, `packer` the program that makes one.
    `pythons` are the versions of Python that VAS runs on there, without a gap; `modulefiles` is
    where environment modules look.
    """

    name: str
    kind: str
    packer: str
    pythons: tuple[str, ...]
    modulefiles: str
    _write: Callable[[SystemPackage, PackageTree, Path, int], None]

    def write(self, package: SystemPackage, tree: PackageTree, directory: Path, epoch: int) -> Path:
        """Packs a tree, with `epoch` as the time of all; returns the package's file.

        Equal trees give equal bytes. Raises NotHere without `packer`, VasError if it fails.
        """
        architecture = package.architecture.deb if self is DEBIAN else package.architecture.rpm
        file = directory / self.file_name(package.name, package.version, architecture)
        self._write(package, tree, file, epoch)
        return file

    def file_name(self, name: str, version: str, architecture: str) -> str:
        """Returns the name of a package's file, as the distribution writes it."""
        if self is DEBIAN:
            return f"{name}_{version}_{architecture}.{self.kind}"
        return f"{name}-{version}-{rpm.RELEASE}.{architecture}.{self.kind}"

    def package_of(self, probe: str) -> str:
        """Returns the name of the package that has what a probe of packages.tsv looks for."""
        (row,) = (one for one in packages() if one.probe == probe)
        return row.on(KnownSystem.DEBIAN_12 if self is DEBIAN else KnownSystem.ROCKY)

    def needs_of_compiled(self, glibc: str) -> tuple[str, ...]:
        """Returns the packages that programs with that oldest version of glibc need."""
        if self is DEBIAN:
            return (f"libc6 (>= {glibc})", "libgcc-s1")
        return (f"glibc >= {glibc}", "libgcc")

    def needs_of_node(self) -> tuple[str, ...]:
        """Returns the packages that the program `vas`, its libraries and its units need."""
        ip, python = self.package_of(_IP), self.package_of(_PYTHON)
        if self is not DEBIAN:
            return (python, "libstdc++", ip, "systemd")
        return (*_from_to(python, self.pythons), "libstdc++6", ip, "systemd")

    def same_version(self, name: str, version: str) -> str:
        """Returns the need of another package in exactly this version."""
        return f"{name} (= {version})" if self is DEBIAN else f"{name} = {version}"


def _from_to(python: str, pythons: Sequence[str]) -> tuple[str, str]:
    newest = int(pythons[-1].partition(".")[2])
    return f"{python} (>= {pythons[0]})", f"{python} (<< 3.{newest + 1})"


# Debian 12, Ubuntu 24.04 and Debian 13 have these Pythons.
DEBIAN = Family(
    "Debian",
    "deb",
    "dpkg-deb",
    ("3.11", "3.12", "3.13"),
    "usr/share/modules/modulefiles",
    deb.write_deb,
)
RED_HAT = Family("RedHat", "rpm", "rpmbuild", ("3.11",), "usr/share/modulefiles", rpm.write_rpm)
