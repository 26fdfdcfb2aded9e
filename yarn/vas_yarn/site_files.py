"""Reads configuration as Hadoop does: a machine's site files, a job's XML, and `-D`.

Old names of keys are replaced by the present ones, and references to other keys are resolved.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from vas_core.errors import BadInput
from vas_core.reading import read_limited

SITE_FILES = ("core-site.xml", "mapred-site.xml", "yarn-site.xml", "hdfs-site.xml")
ROLE_CONFIGURATION = Path("/etc/vas/hadoop")
"""The directory of the role hadoop, which the role's `hadoop` reads."""
_DIRECTORIES = (ROLE_CONFIGURATION, Path("/etc/hadoop/conf"))  # the second is the distributions'
# Hadoop's own table (ConfigUtil), as far as a rule asks for the key.
_OLD_NAMES = {
    "fs.default.name": "fs.defaultFS",
    "io.sort.mb": "mapreduce.task.io.sort.mb",
    "io.sort.spill.percent": "mapreduce.map.sort.spill.percent",
    "mapred.map.child.java.opts": "mapreduce.map.java.opts",
    "mapred.reduce.child.java.opts": "mapreduce.reduce.java.opts",
    "mapred.job.map.memory.mb": "mapreduce.map.memory.mb",
    "mapred.job.reduce.memory.mb": "mapreduce.reduce.memory.mb",
    "mapred.reduce.tasks": "mapreduce.job.reduces",
    "mapred.reduce.slowstart.completed.maps": "mapreduce.job.reduce.slowstart.completedmaps",
    "mapred.job.reduce.input.buffer.percent": "mapreduce.reduce.input.buffer.percent",
    "mapred.job.shuffle.input.buffer.percent": "mapreduce.reduce.shuffle.input.buffer.percent",
    "mapred.job.shuffle.merge.percent": "mapreduce.reduce.shuffle.merge.percent",
}
_REFERENCE = re.compile(r"\$\{([^}$\s]+)\}")
# Hadoop's own bound (Configuration.MAX_SUBST).
_MOST_REFERENCES = 20
_LONGEST_RESOLVED = 1 << 20
_MOST_BYTES = 64 << 20
_MOST_FILES = 100
_INCLUDE = "{http://www.w3.org/2001/XInclude}include"


@dataclass(frozen=True)
class Property:
    """A key as it was written, its value, and whether somebody chose it (no `*-default.xml`)."""

    key: str
    value: str
    chosen: bool = True


class JobConfiguration:
    """Properties by the present names of their keys."""

    def __init__(self, properties: Iterable[Property]) -> None:
        self._found = {_OLD_NAMES.get(p.key, p.key): p for p in properties}

    def find(self, key: str) -> Property | None:
        """Returns the property of a key, with references in its value resolved; None if not set.

        Its own `key` is as it was written, perhaps an old name.
        """
        found = self._found.get(key)
        if found is None:
            return None
        return Property(found.key, self._resolved(found.value.strip()), found.chosen)

    def get(self, key: str, default: str = "") -> str:
        """Returns the value, or the default if the key is not set or empty."""
        found = self.find(key)
        return found.value if found and found.value else default

    def chosen_with_prefix(self, prefix: str) -> list[Property]:
        """Returns the properties that somebody set, of the keys that begin with `prefix`."""
        return [p for key, p in self._found.items() if key.startswith(prefix) and p.chosen]

    def _resolved(self, value: str) -> str:
        """Replaces references one by one, as Hadoop does: all at once would be exponential."""
        for _ in range(_MOST_REFERENCES):
            known = (found for found in _REFERENCE.finditer(value) if found[1] in self._found)
            found = next(known, None)
            if found is None or len(value) > _LONGEST_RESOLVED:
                break
            value = f"{value[: found.start()]}{self._found[found[1]].value}{value[found.end() :]}"
        return value


def read_xml(file: Path) -> list[Property]:
    """Reads the properties of a `job.xml`, site file or profile, in order. Raises BadInput."""
    return list(_properties(file, (), []))


def _properties(file: Path, including: tuple[Path, ...], opened: list[Path]) -> Iterator[Property]:
    if file in including:
        raise BadInput("includes itself", where=str(file), hint="remove the <xi:include>")
    opened.append(file)
    if len(opened) > _MOST_FILES:
        what = f"the files it includes are more than {_MOST_FILES}, each as often as it is included"
        raise BadInput(what, where=str(opened[0]), hint="remove some <xi:include>")
    for entry in _root(file):
        if entry.tag == _INCLUDE:
            other = file.parent / entry.get("href", "")
            yield from _properties(other, (*including, file), opened)
        elif entry.tag == "property":
            yield _property(entry, file)


def _root(file: Path) -> ElementTree.Element:
    try:
        root = ElementTree.fromstring(read_limited(file, _MOST_BYTES))  # noqa: S314 (expat bounds expansion)
    except OSError as wrong:
        raise BadInput(f"cannot be read: {wrong.strerror}", where=str(file)) from wrong
    except ElementTree.ParseError as wrong:
        raise BadInput(f"is not XML: {wrong}", where=str(file)) from wrong
    if root.tag != "configuration":
        raise BadInput(f"is a <{root.tag}>, not a Hadoop <configuration>", where=str(file))
    return root


def _property(entry: ElementTree.Element, file: Path) -> Property:
    name = entry.findtext("name", "").strip()
    if not name:
        raise BadInput("a <property> without a <name>", where=str(file))
    sources = [source.text or "" for source in entry.findall("source")]
    chosen = not any(source.endswith("-default.xml") for source in sources)
    return Property(name, entry.findtext("value", ""), chosen)


def from_options(options: Iterable[str]) -> list[Property]:
    """Returns the properties of `-D key=value` options. Raises BadInput for other options."""
    pairs = [(option, *option.partition("=")) for option in options]
    for option, key, equals, _ in pairs:
        if not key or not equals:
            raise BadInput(f"-D {option}: not of the form key=value")
    return [Property(key, value) for _, key, _, value in pairs]


def as_mapping(properties: Mapping[str, str]) -> JobConfiguration:
    """Makes a configuration from plain key and value pairs."""
    return JobConfiguration(Property(key, value) for key, value in properties.items())


def configuration_directory() -> Path:
    """Returns the directory of the site files, the same for every command.

    That is `$HADOOP_CONF_DIR`, else the role's directory, else Hadoop's usual one. Raises BadInput
    where the variable names a directory without site files, and where none of them has any.
    """
    named = os.environ.get("HADOOP_CONF_DIR")
    looked_at = (Path(named),) if named else _DIRECTORIES
    found = next((directory for directory in looked_at if has_site_files(directory)), None)
    if found:
        return found
    raise BadInput(
        f"no Hadoop configuration in {' or '.join(map(str, looked_at))}",
        where="HADOOP_CONF_DIR" if named else None,
        hint="set HADOOP_CONF_DIR to the directory of the site's core-site.xml",
    )


def has_site_files(directory: Path) -> bool:
    """Returns whether a directory has at least one of Hadoop's site files."""
    return any((directory / name).is_file() for name in SITE_FILES)


def machine_configuration(note: Callable[[str], None]) -> JobConfiguration:
    """Returns this machine's site configuration; if it has none, calls `note` and returns an
    empty one.

    Raises BadInput for a file that is not Hadoop's XML.
    """
    try:
        directory = configuration_directory()
    except BadInput as nowhere:
        note(f"vas: {nowhere}")
        return JobConfiguration(())
    return as_mapping(site_properties(directory))


def site_properties(directory: Path) -> dict[str, str]:
    """Reads key -> value of all site files in a directory; a later file wins. Raises BadInput."""
    files = [directory / name for name in SITE_FILES]
    return {p.key: p.value for file in files if file.exists() for p in read_xml(file)}
