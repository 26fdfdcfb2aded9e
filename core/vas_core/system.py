"""Tells which distribution this is, among those whose package names are in packages.tsv."""

from __future__ import annotations

from enum import StrEnum

from vas_core.root import Root

_RELEASE_FILES = ("etc/os-release", "usr/lib/os-release")


class KnownSystem(StrEnum):
    """A distribution with a column in packages.tsv."""

    DEBIAN_12 = "Debian 12"
    DEBIAN_13 = "Debian 13"
    UBUNTU = "Ubuntu 24.04"
    ROCKY = "Rocky 9"

    @property
    def install(self) -> str:
        """Returns the command that installs packages, without their names."""
        return "dnf install" if self is KnownSystem.ROCKY else "apt-get install"


def system_of(root: Root) -> KnownSystem | None:
    """Returns the distribution of a file system by os-release(5); None if it is none of these.

    RHEL 9 and its rebuilds count as Rocky 9; Oracle's does not name RHEL.
    """
    release = read_release(root)
    name, version = release.get("ID", ""), release.get("VERSION_ID", "")
    if name == "ol" or "rhel" in (name, *release.get("ID_LIKE", "").split()):
        return KnownSystem.ROCKY if version.partition(".")[0] == "9" else None
    by_name = {
        ("debian", "12"): KnownSystem.DEBIAN_12,
        ("debian", "13"): KnownSystem.DEBIAN_13,
        ("ubuntu", "24.04"): KnownSystem.UBUNTU,
    }
    return by_name.get((name, version))


def read_release(root: Root) -> dict[str, str]:
    """Returns os-release(5) of a file system; empty if it has none."""
    text = next(filter(None, map(root.read, _RELEASE_FILES)), "")
    pairs = (line.partition("=")[::2] for line in text.splitlines() if "=" in line)
    return {key.strip(): value.strip().strip("\"'") for key, value in pairs}
