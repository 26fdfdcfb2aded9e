"""Reads from Ansible's roles what nodes get of VAS: packages and roles give the same."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import jinja2
import yaml

from vas_core.repository import REPOSITORY

_ROLES = REPOSITORY / "ansible/roles"
_UNITS = (".service", ".timer")


@dataclass(frozen=True)
class HadoopOfNodes:
    """Files of the role hadoop for every node, besides jars and units.

    `program` is the path of the script `script`, `commands` are the names that it is called by;
    `modulefile` is for users of any site.
    """

    directory: PurePosixPath
    program: PurePosixPath
    script: str
    commands: tuple[str, ...]
    modulefile: str
    logging: Path


def units_of(roles: Iterable[str]) -> dict[str, Path]:
    """Returns name -> file of the systemd units that these roles install."""
    files = (file for role in roles for file in (_ROLES / role / "files").iterdir())
    return {file.name: file for file in sorted(files) if file.suffix in _UNITS}


def libvirt_hook() -> Path:
    """Returns the hook that the role affinity installs for libvirt."""
    return _ROLES / "affinity/files" / PurePosixPath(_variables("affinity", "hook")).name


def program_directory() -> PurePosixPath:
    """Returns the directory of the programs that a guest's image has, and so a package."""
    return PurePosixPath(_variables("program", "image"))


def programs(*, of_guests: bool) -> tuple[str, ...]:
    """Returns the names of the programs of guests, or of all nodes."""
    return tuple(_variables("program", "image_names" if of_guests else "names"))


def python_of(family: str) -> PurePosixPath:
    """Returns the Python that VAS runs on, by Ansible's name of a family of distributions."""
    return PurePosixPath(_variables("program", "pythons")[family])


def restarted_daemons() -> tuple[str, ...]:
    """Returns the units that the role program restarts, where they run, after an upgrade."""
    (handler,) = yaml.safe_load((_ROLES / "program/handlers/main.yml").read_text())
    return tuple(handler["loop"])


def guests_packages(family: str) -> tuple[str, ...]:
    """Returns the packages of libvirt and QEMU that the role storage_host installs."""
    return tuple(_variables("storage_host", "packages")[family])


def hadoop_of_nodes() -> HadoopOfNodes:
    """Renders the templates of the role hadoop with the role's own values, for no site's name."""
    names = ("directory", "configuration", "archive_of_classes", "program", "commands")
    values = {f"__vas_hadoop_{name}": _variables("hadoop", name) for name in names[:3]}
    directory = PurePosixPath(values["__vas_hadoop_directory"])
    program = _filled(_variables("hadoop", "program"), values)
    return HadoopOfNodes(
        directory=directory,
        program=PurePosixPath(program),
        script=_rendered("hadoop.sh.j2", values),
        commands=tuple(PurePosixPath(one).name for one in _variables("hadoop", "commands")),
        modulefile=_rendered("modulefile.j2", {**values, "vas_cluster": {"site": "this site"}}),
        logging=_ROLES / "hadoop/files/log4j.properties",
    )


def _variables(role: str, name: str) -> Any:
    """Returns the private variable __vas_ROLE_NAME of a role."""
    variables = yaml.safe_load((_ROLES / role / "vars/main.yml").read_text())
    return variables[f"__vas_{role}_{name}"]


def _rendered(template: str, values: dict[str, Any]) -> str:
    return _filled((_ROLES / "hadoop/templates" / template).read_text(), values)


def _filled(text: str, values: dict[str, Any]) -> str:
    """Fills a template of a script, which no browser reads (S701)."""
    strict = jinja2.Environment(  # noqa: S701
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    return strict.from_string(text).render(values)
