"""mkosi's command line: a whole disk, with a boot loader, of any of the systems. Pure."""

from __future__ import annotations

from pathlib import Path

from vas_image.definition import DEFINITION, System


def mkosi_argv(system: System, tree: Path, output: Path, mirror: str | None) -> list[str]:
    """The command that makes the disk, its kernel, initrd and manifest in `output`."""
    argv = ["mkosi", f"--directory={DEFINITION}", f"--distribution={system.distribution}"]
    argv += [f"--release={system.release}", f"--extra-tree={tree}:/"]
    argv += [f"--output-directory={output}", f"--workspace-directory={output.parent}"]
    if mirror:
        argv.append(f"--mirror={mirror}")
    return [*argv, "--force", "build"]
