"""The quick way to an image of Debian: mmdebstrap, and a file system without a disk around it.

It has the packages, trees and scripts of the mkosi definition and no boot loader: the kernel and
its initrd lie beside it. No loop device is needed. The command line is pure.
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
class Quick:
    """What the quick builder is told. `mirror`, `security` are URLs; None is mmdebstrap's own."""

    system: System
    definition: Definition
    tree: Path
    output: Path
    mirror: str | None = None
    security: str | None = None


def mmdebstrap_argv(given: Quick) -> list[str]:
    """The command that makes file system, kernel, initrd and package list in `output`.

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


def mmdebstrap_environment(given: Quick, definition_directory: Path) -> dict[str, str]:
    """What the hook, which mmdebstrap starts, reads."""
    return {
        "SOURCE_DATE_EPOCH": str(given.definition.source_date_epoch),
        "VAS_DEFINITION": str(definition_directory),
        "VAS_OUTPUT": str(given.output),
    }


def _mirrors(given: Quick) -> Iterator[str]:
    """What mmdebstrap takes after its target: a URL, or lines as of sources.list(5)."""
    if given.mirror:
        yield given.mirror
    if given.security:
        # A snapshot's list of contents is out of date by design.
        yield f"deb [check-valid-until=no] {given.security} {given.system.release}-security main"


def _quoted(path: Path) -> str:
    """A path within a hook, which mmdebstrap splits as a shell does."""
    text = str(path)
    if set(text) & set(" '\"\\$`\n"):
        raise BadInput("has blanks or quotes in its name", where=text, hint="use another directory")
    return text
