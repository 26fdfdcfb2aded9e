"""Properties of jobs, as Hadoop's `-conf` takes them: one XML file beside this one each."""

from __future__ import annotations

from pathlib import Path

from vas_yarn.lint.configuration import read_xml

PROFILES = ("default", "short", "long", "off")


def profile_file(name: str) -> Path:
    """The file of a profile."""
    return Path(__file__).with_name(f"{name}.xml")


def profile_properties(name: str) -> dict[str, str]:
    """Its properties, with those of the files that it includes."""
    return {found.key: found.value for found in read_xml(profile_file(name))}


# What a job says to use VAS's shuffle, and nothing else.
SHUFFLE = profile_properties("shuffle")
