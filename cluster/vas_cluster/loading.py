"""Reads a cluster map from a file."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from vas_cluster.document import parse_document, read_text
from vas_cluster.model import Cluster
from vas_cluster.rules import check_rules
from vas_core.errors import BadInput
from vas_core.predictable_names import LAB_LOCK
from vas_core.problems import DocumentProblems, structure_problems
from vas_core.repository import labs_directory
from vas_core.safe_open import Planted, is_locked

DEFAULT_PATH = Path("/etc/vas/cluster.yaml")


def default_path() -> Path:
    """Returns the map's default place: `$VAS_CLUSTER`, else /etc/vas/cluster.yaml."""
    return Path(os.environ.get("VAS_CLUSTER") or DEFAULT_PATH)


def load_site(hint: str, command: str = "") -> Cluster:
    """Returns the map at its default place.

    Raises BadInput with `hint` if there is none, DocumentProblems if it is wrong. While a lab is
    up, the hint also has the line that runs `command` in it.
    """
    path = default_path()
    if not path.exists():
        lab = _in_a_lab(command) if command else ""
        raise BadInput("the site's map is missing", where=str(path), hint=hint + lab)
    return load_cluster(path)


def _in_a_lab(command: str) -> str:
    """A hint for whoever has a lab that is up: its site is known inside of it alone."""
    for lock in sorted(labs_directory().glob(f"*/{LAB_LOCK.of()}")):
        with suppress(OSError, Planted):
            if is_locked(lock):
                name = lock.parent.name
                return f"; in the lab {name}: `vas lab shell --name {name} -- {command}`"
    return ""


def load_cluster(path: Path) -> Cluster:
    """Returns the map of a file. Raises DocumentProblems with one line per problem."""
    text, problems = read_text(path)
    if not problems:
        return parse_cluster(text, path)
    raise DocumentProblems(path, problems)


def parse_cluster(text: str, name: Path | str) -> Cluster:
    """Returns the map of a YAML text; messages have `name` in the place of the file's name.

    Raises DocumentProblems with one line per problem.
    """
    value, problems = parse_document(text)
    if problems:
        raise DocumentProblems(name, problems, hides_more=bool(text.strip()))
    try:
        cluster = Cluster.model_validate(value)
    except ValidationError as wrong:
        found = structure_problems(wrong, Cluster)
        raise DocumentProblems(name, found, hides_more=True) from None
    problems = check_rules(cluster)
    if problems:
        raise DocumentProblems(name, problems)
    return cluster
