"""Packs what is read: sources, pages, and man pages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from vas_core.cli import vas
from vas_core.manual.man import write_man_pages
from vas_core.manual.site import files_of_pages
from vas_release.artefact import ReleaseFile
from vas_release.source import ReleaseSource
from vas_release.tarball import write_tarball

# Beside the pages, what a reader of a release wants to have.
_PAPERS = ("CHANGELOG.md", "CITATION.cff", "LICENSE", "SECURITY.md", "CODE_OF_CONDUCT.md")
_LIBRARY_PAGES = "alltoallv/*.3"


def pack_source(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
    """Packs every file of the commit, as a clone has it, without its history."""
    top = f"vas-{source.version}"
    members = {f"{top}/{name}": source.repository / name for name in source.tracked()}
    archive = directory / f"{top}-source.tar.gz"
    write_tarball(archive, members, source.epoch, keep_links=True)
    yield ReleaseFile(archive)


def pack_docs(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
    """Packs the pages as Markdown, with every file of the commit that they lead to."""
    tracked = {source.repository / name for name in source.tracked()}
    papers = {source.repository / name for name in _PAPERS}
    found = tracked & (files_of_pages(source.repository) | papers)
    top = f"vas-docs-{source.version}"
    members = {f"{top}/{file.relative_to(source.repository)}": file for file in found}
    archive = directory / f"{top}.tar.gz"
    write_tarball(archive, members, source.epoch)
    yield ReleaseFile(archive)


def pack_man(source: ReleaseSource, directory: Path) -> Iterator[ReleaseFile]:
    """Packs a man page of each command, and those of the all-to-all library."""
    top = f"vas-man-{source.version}"
    archive = directory / f"{top}.tar.gz"
    with tempfile.TemporaryDirectory() as name:
        pages = write_man_pages(vas, "vas", source.version, Path(name))
        pages += [source.repository / page for page in source.tracked(_LIBRARY_PAGES)]
        members = {f"{top}/man{page.suffix[1:]}/{page.name}": page for page in pages}
        write_tarball(archive, members, source.epoch)
    yield ReleaseFile(archive)
