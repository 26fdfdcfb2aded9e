"""Reads the mkosi definition of the image, for the builder that is not mkosi."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from vas_core.errors import BadInput

DEFINITION = Path(__file__).resolve().parents[1] / "guest"
_COMMENTS = ("#", ";")


class System(StrEnum):
    """An operating system of a guest, as `--system` takes it."""

    DEBIAN_12 = "debian-12"
    DEBIAN_13 = "debian-13"
    ROCKY_9 = "rocky-9"

    @property
    def distribution(self) -> str:
        """Returns mkosi's name of the distribution."""
        return self.value.partition("-")[0]

    @property
    def release(self) -> str:
        """Returns the release as its repositories call it."""
        return _RELEASES[self]

    @property
    def python(self) -> str:
        """Returns the version of Python on which VAS runs there."""
        return "3.13" if self is System.DEBIAN_13 else "3.11"


_RELEASES = {System.DEBIAN_12: "bookworm", System.DEBIAN_13: "trixie", System.ROCKY_9: "9"}


@dataclass(frozen=True)
class Definition:
    """The parts of the definition that both builders need."""

    packages: tuple[str, ...]
    kernel_command_line: str
    source_date_epoch: int


def read_definition(system: System, directory: Path = DEFINITION) -> Definition:
    """Returns the definition for one system. Raises BadInput if mkosi would refuse it too."""
    main = _settings(directory / "mkosi.conf")
    parts = [_settings(file) for file in sorted(directory.glob("mkosi.conf.d/*.conf"))]
    chosen = [main, *(part for part in parts if _matches(part, system))]
    packages = (name for part in chosen for name in part.get("Content.Packages", ()))
    try:
        return Definition(
            packages=tuple(sorted(set(packages))),
            kernel_command_line=" ".join(main["Content.KernelCommandLine"]),
            source_date_epoch=int(*main["Content.SourceDateEpoch"]),
        )
    except (KeyError, TypeError, ValueError) as wrong:
        raise BadInput(f"lacks {wrong}", where=str(directory / "mkosi.conf")) from None


def _matches(settings: dict[str, tuple[str, ...]], system: System) -> bool:
    distribution = settings.get("Match.Distribution", (system.distribution,))
    release = settings.get("Match.Release", (system.release,))
    return distribution == (system.distribution,) and release == (system.release,)


def _settings(file: Path) -> dict[str, tuple[str, ...]]:
    """Reads `Section.Key` -> words; a value continues in lines that begin with a blank."""
    settings: dict[str, tuple[str, ...]] = {}
    for key, words in _lines(file):
        settings[key] = (*settings.get(key, ()), *words)
    return settings


def _lines(file: Path) -> Iterator[tuple[str, list[str]]]:
    section, key = "", ""
    for number, line in enumerate(file.read_text().splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith(_COMMENTS):
            continue
        if line.startswith("["):
            section, key = line.strip("[] "), ""
        elif line[0].isspace() and key:
            yield key, line.split()
        elif "=" in line:
            name, _, value = line.partition("=")
            key = f"{section}.{name.strip()}"
            yield key, value.split()
        else:
            raise BadInput("is neither [SECTION] nor KEY=VALUE", where=f"{file}:{number}")
