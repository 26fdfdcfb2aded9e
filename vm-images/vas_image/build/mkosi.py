"""Makes mkosi's command line, for a whole disk with a boot loader, of any system. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vas_image.definition import DEFINITION, System

# mkosi leaves a file of this name as it is; its own names debug symbols and sources too.
_SOURCES = Path("etc/apt/sources.list.d/mkosi.sources")
_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_MODULES = "usr/lib/python3/dist-packages"


@dataclass(frozen=True)
class MkosiBuild:
    """The options of a build by mkosi. `mirror`, `security` are URLs, None for mkosi's own.

    `sandbox` is a directory with the `sandbox_files`; `tools` is a tree of Debian 13 whose mkosi
    and programs are used, None for this machine's.
    """

    system: System
    tree: Path
    output: Path
    sandbox: Path
    mirror: str | None = None
    security: str | None = None
    tools: Path | None = None


def mkosi_program(tools: Path | None) -> list[str]:
    """Returns the words that start mkosi: this machine's, or a tree's by this machine's Python."""
    if tools is None:
        return ["mkosi"]
    return ["env", f"PYTHONPATH={tools / _MODULES}", "PYTHONSAFEPATH=1", "python3", "-m", "mkosi"]


def mkosi_argv(given: MkosiBuild) -> list[str]:
    """Returns the command that makes the disk, its kernel, initrd and manifest in `output`."""
    system, output = given.system, given.output
    argv = [*mkosi_program(given.tools), f"--directory={DEFINITION}"]
    argv += [f"--distribution={system.distribution}", f"--release={system.release}"]
    argv += [f"--extra-tree={given.tree}:/", f"--output-directory={output}"]
    argv += [f"--workspace-directory={output.parent}"]
    if given.tools:
        argv.append(f"--tools-tree={given.tools}")
    if given.mirror:
        argv.append(f"--mirror={given.mirror}")
    if sandbox_files(given):
        argv.append(f"--sandbox-tree={given.sandbox}:/")
    return [*argv, "--force", "build"]


def sandbox_files(given: MkosiBuild) -> dict[Path, str]:
    """Returns the package manager's configuration: Debian's packages come from the mirrors only.

    mkosi itself would take security updates from Debian's own server, whatever the mirror is.
    """
    if given.system.distribution != "debian" or not given.mirror:
        return {}
    return {_SOURCES: "\n".join(_sources(given, given.mirror))}


def _sources(given: MkosiBuild, mirror: str) -> Iterator[str]:
    """Yields paragraphs in the format of sources.list(5)."""
    release = given.system.release
    for url, suite in ((mirror, release), (given.security, f"{release}-security")):
        if url:
            fields = ("Types: deb", f"URIs: {url}", f"Suites: {suite}", "Components: main")
            yield "\n".join((*fields, f"Signed-By: {_KEYRING}", ""))
