"""Reads the profiles of jobs: files next to this one, in the XML of Hadoop's `-conf`."""

from __future__ import annotations

from pathlib import Path

from vas_yarn.site_files import read_xml

PROFILES = ("default", "short", "long", "off")


def profile_file(name: str) -> Path:
    """Returns the file of a profile; `name` is a profile's, or the path of an XML file."""
    return Path(name) if is_file_name(name) else Path(__file__).with_name(f"{name}.xml")


def is_file_name(name: str) -> bool:
    """Returns whether a profile is named by a file, `tuned.xml`, not by one of `PROFILES`."""
    return name.endswith(".xml")


def profile_properties(name: str) -> dict[str, str]:
    """Returns a profile's properties, key -> value, with those of the files that it includes.

    `name` is a profile's, or the path of an XML file. Raises BadInput for a wrong file.
    """
    return {found.key: found.value for found in read_xml(profile_file(name))}


# What a job says to use VAS's shuffle, and nothing else.
SHUFFLE = profile_properties("shuffle")
# The same for the shuffle on the nodes' own disks, and for stock's where others are switched on.
NODE_SHUFFLE = profile_properties("node")
STOCK_SHUFFLE = profile_properties("stock")
