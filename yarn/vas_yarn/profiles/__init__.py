"""Properties of jobs, as Hadoop's `-conf` takes them: one XML file beside this one each."""

from __future__ import annotations

from pathlib import Path

from vas_yarn.site_files import read_xml

PROFILES = ("default", "short", "long", "off")


def profile_file(name: str) -> Path:
    """The file of a profile: one of these, or any whose name ends so that it is one."""
    return Path(name) if is_file_name(name) else Path(__file__).with_name(f"{name}.xml")


def is_file_name(name: str) -> bool:
    """Whether a profile is named by its own file, `tuned.xml`, and not by one of `PROFILES`."""
    return name.endswith(".xml")


def profile_properties(name: str) -> dict[str, str]:
    """Returns a profile's properties, with those of the files that it includes."""
    return {found.key: found.value for found in read_xml(profile_file(name))}


# What a job says to use VAS's shuffle, and nothing else.
SHUFFLE = profile_properties("shuffle")
