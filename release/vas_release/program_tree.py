"""Lays the program `vas` into a package's tree: a virtual environment of the system's Python.

Libraries that fit every Python of a package lie once, at `lib/site-packages`; those that are
compiled for one lie where that Python looks, at `lib/python3.N/site-packages`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import Distribution, EntryPoint, distributions
from pathlib import Path, PurePosixPath

from vas_core.errors import VasError
from vas_core.wheels import install_wheels
from vas_release.tree import PackageTree

_SHARED = "lib/site-packages"
_CLASSIFIER = "License :: OSI Approved :: "
# -I: neither a user's PYTHONPATH, which modulefiles set, nor the working directory is searched.
_PROGRAM = """#!{python} -I
import sys

from {module} import {function}

sys.exit({function}())
"""


def add_environment(
    tree: PackageTree, place: PurePosixPath, python: PurePosixPath, pythons: Sequence[str]
) -> None:
    """Adds an environment of the system's `python` at `place` (`/usr/lib/vas/python`)."""
    top = _below(place)
    tree.write(f"{top}/pyvenv.cfg", f"home = {python.parent}\n")
    tree.link(f"{top}/bin/python3", str(python))
    # No cache of compiled modules is written: a package leaves nothing behind.
    lines = f"{place / _SHARED}\nimport sys; sys.dont_write_bytecode = True\n"
    for version in pythons:
        tree.write(f"{top}/lib/python{version}/site-packages/vas.pth", lines)


def add_libraries(
    tree: PackageTree, place: PurePosixPath, wheels: Mapping[str, Sequence[Path]]
) -> None:
    """Installs Python's version -> wheels; wheels of one name are equal. Raises VasError."""
    names = {version: {wheel.name for wheel in found} for version, found in wheels.items()}
    shared = set.intersection(*names.values())
    for version, found in wheels.items():
        own = [wheel for wheel in found if wheel.name not in shared]
        _install(tree, own, version, f"{_below(place)}/lib/python{version}/site-packages")
    first, found = next(iter(wheels.items()))
    common = [wheel for wheel in found if wheel.name in shared]
    _install(tree, common, first, f"{_below(place)}/{_SHARED}")


def add_programs(tree: PackageTree, place: PurePosixPath, values: Mapping[str, str]) -> None:
    """Adds programs, name -> `module:function`, in the environment and in /usr/bin.

    The latter are no links: AppArmor lets libvirt's hooks run what lies in /usr/bin, and looks
    where a link leads to.
    """
    for name, value in values.items():
        entry = EntryPoint(name, value, "console_scripts")
        text = _PROGRAM.format(
            python=place / "bin/python3", module=entry.module, function=entry.attr
        )
        for directory in (f"{_below(place)}/bin", "usr/bin"):
            tree.write(f"{directory}/{name}", text, runs=True)


def licences(tree: PackageTree) -> str:
    """Returns a line for each library of Python in a tree: name, version, licence.

    The licence is what the library's metadata call it, or the name of its file in `licenses`.

    Raises VasError for a library that names no licence.
    """
    lines = {_licence(one) for one in _libraries(tree)}
    return "".join(f"{line}\n" for line in ("#library\tversion\tlicence", *sorted(lines)))


def _install(tree: PackageTree, wheels: Sequence[Path], version: str, name: str) -> None:
    if wheels:
        install_wheels(wheels, version, tree.make_directory(name))


def _libraries(tree: PackageTree) -> Iterator[Distribution]:
    directories = {str(found.parent) for found in tree.root.rglob("*.dist-info")}
    return iter(distributions(path=sorted(directories)))


def _licence(library: Distribution) -> str:
    about = library.metadata
    classifiers = (text for text in about.get_all("Classifier") or () if _CLASSIFIER in text)
    named = [about[key] for key in ("License-Expression", "License") if key in about]
    licence = "".join(named[:1]) or " AND ".join(
        text.removeprefix(_CLASSIFIER) for text in classifiers
    )
    licence = licence or " AND ".join(about.get_all("License-File") or ())
    if not licence:
        raise VasError("names no licence", where=about["Name"], hint="look into its wheel")
    return f"{about['Name']}\t{about['Version']}\t{licence.splitlines()[0]}"


def _below(path: PurePosixPath) -> str:
    return str(path.relative_to("/"))
