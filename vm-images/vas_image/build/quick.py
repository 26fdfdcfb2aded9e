"""Makes mmdebstrap's command line, the quick way to an image of Debian. Pure.

The image is a file system without partitions. It has the packages, trees and scripts of the mkosi
definition, and no boot loader: the kernel and initrd lie next to it. No loop device is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_core.errors import BadInput
from vas_image.definition import Definition, System

HOOK = Path(__file__).with_name("quick_hook.sh")
# Not man/*: Java's package fails to install without the directory man/man1.
_UNWANTED = ("doc/*", "man/*/*", "locale/*", "info/*")


@dataclass(frozen=True)
class QuickBuild:
    """The options of a quick build. `mirror`, `security` are URLs, None for mmdebstrap's own."""

    system: System
    definition: Definition
    tree: Path
    output: Path
    mirror: str | None = None
    security: str | None = None


def mmdebstrap_argv(given: QuickBuild) -> list[str]:
    """Returns the command that makes file system, kernel, initrd and package list in `output`.

    Raises BadInput for a system that mmdebstrap cannot make.
    """
    if given.system.distribution != "debian":
        hint = "build it with mkosi: --builder mkosi"
        raise BadInput("is not Debian, so mmdebstrap cannot make it", where=given.system, hint=hint)
    paths = [f"path-exclude=/usr/share/{unwanted}" for unwanted in _UNWANTED]
    paths.append("path-include=/usr/share/doc/*/copyright")
    argv = ["mmdebstrap", "--variant=apt", f"--include={','.join(given.definition.packages)}"]
    argv += [f"--dpkgopt={option}" for option in paths]
    argv += ["--aptopt=Apt::Install-Recommends false"]
    argv += [f"--customize-hook=sync-in {_quoted(given.tree)} /"]
    argv += [f"--customize-hook={HOOK}", "--format=null", given.system.release, "/dev/null"]
    return [*argv, *_mirrors(given)]


def mmdebstrap_environment(given: QuickBuild, definition_directory: Path) -> dict[str, str]:
    """Returns the environment variables that mmdebstrap's hook reads."""
    return {
        "SOURCE_DATE_EPOCH": str(given.definition.source_date_epoch),
        "VAS_DEFINITION": str(definition_directory),
        "VAS_OUTPUT": str(given.output),
    }


def _mirrors(given: QuickBuild) -> Iterator[str]:
    """Yields the sources that mmdebstrap takes after its target: a URL, or a line of a list."""
    if given.mirror:
        yield given.mirror
    if given.security:
        # A snapshot's list of contents is out of date by design.
        yield f"deb [check-valid-until=no] {given.security} {given.system.release}-security main"


def _quoted(path: Path) -> str:
    """Returns a path for a hook, which mmdebstrap splits as a shell does."""
    text = str(path)
    if set(text) & set(" '\"\\$`\n"):
        raise BadInput("has blanks or quotes in its name", where=text, hint="use another directory")
    return text
