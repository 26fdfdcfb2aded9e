"""The system packages of packages.tsv, and whether this machine has each.

`./vas` has the same probes in bash: it installs missing packages before there is a Python to ask.
"""

from __future__ import annotations

import csv
import importlib.util
import os
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from itertools import product
from pathlib import Path

from vas_core.doctor import DoctorFinding
from vas_core.process import run
from vas_core.root import Root
from vas_core.system import KnownSystem, read_release, system_of

_NEEDED_FOR = {
    "base": "every command",
    "source": "getting the sources",
    "venv": "the first command in a clone",
    "lab": "demo, test, lab, bench",
    "paths": "route calibrate, test",
    "bench": "bench interference, test",
    "browser": "test",
    "guests": "affinity with guests, test",
    "image": "image, test",
    "disk": "image build",
    "uefi": "image check",
    "firewall": "test",
    "long": "test --ci, --slice, --all",
    "a2av": "a2av, test",
    "mpi": "a2av build, verify, tune, demo, bench --mpi",
    "simgrid": "a2av bench, grid, sort",
    "native": "build --native",
}
NO_PACKAGE = "-"
"""packages.tsv has this in the place of a package that no repository of a system offers."""
_SAME = "="
OLDEST_RUST = (1, 85)
"""The rust-version of shuffled/Cargo.toml; Ubuntu 24.04 has it in its programs' names."""
_RUST_VERSION = re.compile(r" (\d+)\.(\d+)")
_ALWAYS = ("base", "lab")
_INSTEAD = {
    "disk": "`vas image build --builder quick` needs none; or give --tools-tree a tree that has it"
    " (docs/image.md)",
}
"""Scope -> the fix on a system whose own package is too old, as Debian 12's mkosi is."""
_JAVA_VERSION = re.compile(r'version "(?:1\.)?(\d+)[^"]*"')


@dataclass(frozen=True)
class Package:
    """A row of packages.tsv: the packages of each system to install if `probe` fails.

    `scope` names what needs them (a key of `_NEEDED_FOR`); packages.tsv explains the probes.
    """

    probe: str
    scope: str
    names: dict[KnownSystem, str]
    why: str

    def on(self, system: KnownSystem) -> str:
        """Returns the package's name on a system; NO_PACKAGE where it has none."""
        return self.names[system]

    def fix(self, system: KnownSystem | None) -> str:
        """Returns how to install it, on a system that is not known for one of each family."""
        if system is not None:
            return _install(self.on(system), system)
        debian, rocky = self.on(KnownSystem.DEBIAN_12), self.on(KnownSystem.ROCKY)
        of_rocky = "no package" if rocky == NO_PACKAGE else f"dnf install {rocky}"
        return f"apt-get install {debian} (Rocky 9: {of_rocky})"


def _install(name: str, system: KnownSystem) -> str:
    return f"no package of {system} has it" if name == NO_PACKAGE else f"{system.install} {name}"


def packages() -> list[Package]:
    """Returns the system packages that VAS uses, with their names on each system."""
    text = resources.files("vas_core").joinpath("packages.tsv").read_text()
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [_package(*row) for row in csv.reader(lines, delimiter="\t")]


def _package(
    probe: str, scope: str, debian: str, debian13: str, ubuntu: str, rocky: str, why: str
) -> Package:
    names = (debian, debian13, ubuntu, rocky)
    by_system = dict(zip(KnownSystem, (debian if n == _SAME else n for n in names), strict=True))
    return Package(probe, scope, by_system, why)


def check(root: Root) -> Iterator[DoctorFinding]:
    """Yields a finding for the distribution, and one for each system package."""
    system = system_of(root)
    yield _distribution(root, system)
    for package in packages():
        yield _finding(package, system)


def _distribution(root: Root, system: KnownSystem | None) -> DoctorFinding:
    found = read_release(root).get("PRETTY_NAME", "no os-release")
    return DoctorFinding(
        name="system",
        ok=system is not None,
        found=found if system else f"{found}: not one whose package names are known",
        needed_for="names of packages",
        fix=f"take {', '.join(KnownSystem)}, or install the packages below by other names",
        optional=True,
    )


def _finding(package: Package, system: KnownSystem | None) -> DoctorFinding:
    kind, _, name = package.probe.rpartition(":")
    found = _look(package.probe)
    install = package.fix(system)
    if kind == "jdk" and "JAVA_HOME" in os.environ:
        install = f"set JAVA_HOME to a JDK {name} or newer, or unset it"
    return DoctorFinding(
        name=package.probe.partition("|")[0].replace(":", " "),
        ok=found.ok,
        found=found.text if found.ok else f"{found.text}: {package.why}",
        needed_for=_NEEDED_FOR[package.scope],
        fix=_INSTEAD.get(package.scope, install),
        optional=package.scope not in _ALWAYS,
    )


def _look(probe: str) -> _Look:
    """Tries probes joined by `|`; returns the first that finds something, or the last."""
    for one in probe.split("|"):
        kind, _, name = one.rpartition(":")
        found = _LOOKS[kind](name)
        if found.ok:
            break
    return found


@dataclass(frozen=True)
class _Look:
    ok: bool
    text: str


def _program(name: str) -> _Look:
    path = shutil.which(name)
    return _Look(path is not None, path or "no")


def running(name: str) -> Path | None:
    """Returns the first of Rust's programs of this name on PATH that is new enough; None without.

    rustup puts a stand-in for a compiler on PATH even if no compiler is installed. Ubuntu has a
    newer compiler beside its own, with the version in its name.
    """
    versioned = f"{name}-{'.'.join(map(str, OLDEST_RUST))}"
    places = product((name, versioned), os.get_exec_path())
    for program in (Path(directory) / each for each, directory in places):
        if os.access(program, os.X_OK) and _is_new_enough(program):
            return program
    return None


def _is_new_enough(program: Path) -> bool:
    done = run([program, "--version"], check=False)
    found = _RUST_VERSION.search(done.stdout) if done.status == 0 else None
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST_RUST


def _running(name: str) -> _Look:
    path = running(name)
    return _Look(path is not None, str(path or "no"))


def _python(version: str) -> _Look:
    major, minor = map(int, version.split("."))
    return _Look(sys.version_info >= (major, minor), sys.version.split()[0])


def _module(name: str) -> _Look:
    there = importlib.util.find_spec(name) is not None
    return _Look(there, "yes" if there else "no")


def _header(name: str) -> _Look:
    there = shutil.which("cc") is not None and (
        run(["cc", "-E", "-x", "c", "-"], stdin=f"#include <{name}>\n", check=False).status == 0
    )
    return _Look(there, "yes" if there else "no")


def _jdk(oldest: str) -> _Look:
    """The `java` that Maven and the lab start, if its compiler lies beside it."""
    home = os.environ.get("JAVA_HOME")
    java = shutil.which(f"{home}/bin/java" if home else "java")
    if java is None:
        return _Look(False, f"no bin/java in JAVA_HOME={home}" if home else "no")
    said = run([java, "-version"], check=False).stderr
    match = _JAVA_VERSION.search(said)
    if match is None or int(match[1]) < int(oldest):
        return _Look(False, f"{java} is {match[1] if match else 'not a Java'}, older than {oldest}")
    if not Path(java).resolve().with_name("javac").exists():
        return _Look(False, f"{java} is {match[1]}, without javac")
    return _Look(True, f"{match[1]}, {java}")


def _file(path: str) -> _Look:
    there = Path(path).is_file()
    return _Look(there, path if there else "no")


_LOOKS = {
    "": _program,
    "runs": _running,
    "python": _python,
    "module": _module,
    "c": _header,
    "jdk": _jdk,
    "file": _file,
}
