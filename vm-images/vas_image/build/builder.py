"""Builds an image: gathers the tree, runs a builder, packs the disk, and describes it."""

from __future__ import annotations

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

from vas_core.errors import BadInput, NotHere, VasError
from vas_core.files import make_directories, write_atomically
from vas_core.process import CommandFailed, run
from vas_core.progress import Step, Steps
from vas_core.sbom import SbomComponent, bill, debian_packages, file_components, manifest_packages
from vas_image.build.assembly import HADOOP, PLUGINS, WHEELS, assemble
from vas_image.build.mkosi import MkosiBuild, mkosi_argv, mkosi_program, sandbox_files
from vas_image.build.quick import QuickBuild, mmdebstrap_argv, mmdebstrap_environment
from vas_image.definition import DEFINITION, Definition, System, read_definition
from vas_image.image import BILL, DISK, INITRD, KERNEL, Image, write_image

STEPS = (
    Step("gather jars, units and wheels", 40),
    Step("make the system", 240),
    Step("pack the disk", 60),
)
_SNAPSHOT = "{snapshot}"
_OLDEST_MKOSI = 25


class ImageBuilder(StrEnum):
    """The program that makes the system."""

    MKOSI = "mkosi"
    QUICK = "quick"


@dataclass(frozen=True)
class BuildOrder:
    """An order to build an image: system, builder, directory, mirrors and tools.

    `tools` is a tree of Debian 13 that has mkosi; None for this machine's.
    """

    system: System
    builder: ImageBuilder
    output: Path
    mirror: str | None = None
    security_mirror: str | None = None
    tools: Path | None = None

    @property
    def definition(self) -> Definition:
        """Returns the definition of the order's system. Raises BadInput if it is wrong."""
        return read_definition(self.system)

    @property
    def source(self) -> str | None:
        """Returns the mirror, with the pinned date in place of `{snapshot}`."""
        return self._pinned(self.mirror)

    @property
    def security(self) -> str | None:
        """Returns the mirror of Debian's security updates, with the pinned date."""
        return self._pinned(self.security_mirror)

    def _pinned(self, mirror: str | None) -> str | None:
        if mirror is None:
            return None
        at = datetime.fromtimestamp(self.definition.source_date_epoch, UTC)
        return mirror.replace(_SNAPSHOT, at.strftime("%Y%m%dT%H%M%SZ"))


def command_of(order: BuildOrder, tree: Path, output: Path) -> list[str]:
    """Returns the builder's command line, for the gathered `tree` and the directory `output`.

    Raises BadInput for a system that the builder cannot make.
    """
    if order.builder is ImageBuilder.MKOSI:
        return mkosi_argv(_whole(order, tree, output))
    return mmdebstrap_argv(_quick(order, tree, output))


def build(order: BuildOrder, learned: Path) -> Image:
    """Builds an image and shows progress; an existing image is replaced at the end only.

    `learned` is the file that remembers how long each step took. Raises NotHere if the builder or a
    part of the image is missing, BadInput for options that do not fit or an output directory of
    something else, VasError with the builder's message if it fails.
    """
    order.output.parent.mkdir(parents=True, exist_ok=True)
    _check_place(order.output)
    check_builder(order)
    with (
        tempfile.TemporaryDirectory(prefix=".vas-image-", dir=order.output.parent) as work,
        Steps.show(STEPS, learned) as steps,
    ):
        tree, made = Path(work, "tree"), Path(work, "made")
        made.mkdir()
        with steps.step(STEPS[0].name):
            make_directories(tree)
            assemble(tree, order.system)
        with steps.step(STEPS[1].name):
            _run_builder(order, tree, made)
        with steps.step(STEPS[2].name):
            image = _pack(order, tree, made)
        _replace(order.output, made)
    return image


def _quick(order: BuildOrder, tree: Path, output: Path) -> QuickBuild:
    return QuickBuild(order.system, order.definition, tree, output, order.source, order.security)


def _whole(order: BuildOrder, tree: Path, output: Path) -> MkosiBuild:
    sandbox = output.with_name("sandbox")
    where = (tree, output, sandbox)
    return MkosiBuild(order.system, *where, order.source, order.security, order.tools)


def _check_place(output: Path) -> None:
    if output.exists() and any(output.iterdir()) and not (output / DISK).exists():
        hint = "name a new directory, or one with an image"
        raise BadInput("holds files, but not an image", where=str(output), hint=hint)


def check_builder(order: BuildOrder) -> None:
    """Checks, before minutes of work, that the builder is there and new enough.

    Raises NotHere if it is missing or too old (an older mkosi has other settings), CommandFailed if
    it does not run, BadInput for options that do not fit.
    """
    if order.security_mirror and not order.mirror:
        raise BadInput("is of use with --mirror only", where="--security-mirror")
    if order.builder is ImageBuilder.QUICK:
        run(["mmdebstrap", "--version"])
        return
    hint = "give a tree that has it by --tools-tree (docs/image.md); --builder quick needs none"
    try:
        said = run([*mkosi_program(order.tools), "--version"]).stdout
    except NotHere:
        what = f"is not installed, and {_OLDEST_MKOSI} is needed"
        raise NotHere(what, where="mkosi", hint=hint) from None
    version = re.search(r"\d+", said)
    if version is None or int(version[0]) < _OLDEST_MKOSI:
        raise NotHere(f"is {said.strip()}, {_OLDEST_MKOSI} is needed", where="mkosi", hint=hint)


def _run_builder(order: BuildOrder, tree: Path, made: Path) -> None:
    more: dict[str, str] = {}
    if order.builder is ImageBuilder.QUICK:
        more = mmdebstrap_environment(_quick(order, tree, made), DEFINITION)
    else:
        _lay_sandbox(_whole(order, tree, made))
    try:
        run(command_of(order, tree, made), env={**os.environ, **more}, cwd=made)
    except CommandFailed as failed:
        log = order.output.with_name(f"{order.output.name}.log")
        log.write_text(failed.completed.stdout + failed.completed.stderr)
        raise VasError(
            str(failed), where=order.builder, hint=f"the whole output is in {log}"
        ) from None


def _lay_sandbox(given: MkosiBuild) -> None:
    for path, text in sandbox_files(given).items():
        file = given.sandbox / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)


def _pack(order: BuildOrder, tree: Path, made: Path) -> Image:
    raw = made / "vas-guest.raw"
    run(["qemu-img", "convert", "-c", "-O", "qcow2", raw, made / DISK])
    components = [*_system_packages(made), *file_components(_names(tree))]
    made_of = bill(
        components,
        subject=f"vas-guest-{order.system}",
        subject_type="operating-system",
        distribution=order.system.distribution,
    )
    text = json.dumps(made_of, indent=1) + "\n"
    write_atomically(made / BILL, text)
    digest = made / "tree-digest"
    image = Image(
        system=order.system,
        builder=order.builder,
        source_date_epoch=order.definition.source_date_epoch,
        mirror=order.source,
        security_mirror=order.security,
        kernel_command_line=order.definition.kernel_command_line,
        boots_by_itself=order.builder is ImageBuilder.MKOSI,
        virtual_bytes=raw.stat().st_size,
        packages=sum(component.kind in ("deb", "rpm") for component in components),
        jars=sum(component.kind == "maven" for component in components),
        tree_digest=digest.read_text().strip() if digest.exists() else None,
    )
    for file in (KERNEL, INITRD):
        if not (made / file).is_file():
            raise VasError(f"made no {file}", where=order.builder)
    write_image(made, image)
    return image


def _system_packages(made: Path) -> Iterable[SbomComponent]:
    status = made / "dpkg-status"
    if status.exists():
        return debian_packages(status.read_text())
    return manifest_packages((made / "vas-guest.manifest").read_text())


def _names(tree: Path) -> Iterator[str]:
    for part in (HADOOP, PLUGINS, WHEELS):
        yield from (file.name for file in (tree / part).iterdir())


def _replace(output: Path, made: Path) -> None:
    for left in ("vas-guest", "vas-guest.raw", "dpkg-status", "tree-digest", "vas-guest.manifest"):
        (made / left).unlink(missing_ok=True)
    if output.exists():
        shutil.rmtree(output)
    made.rename(output)
