"""Builds the documentation site and the man pages: `vas docs`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from vas_core.cli import note, vas
from vas_core.distribution import own_version
from vas_core.manual.man import write_man_pages
from vas_core.manual.site import build_site
from vas_core.repository import REPOSITORY


@click.command()
@click.option(
    "--man",
    "man_directory",
    type=click.Path(path_type=Path, file_okay=False),
    help="Directory for man pages; no site is built then.",
)
@click.option(
    "--out",
    "site",
    type=click.Path(path_type=Path, file_okay=False),
    default=REPOSITORY / "build" / "site",
    show_default="build/site of the clone",
    help="Directory of the site.",
)
def docs(man_directory: Path | None, site: Path) -> None:
    """Build the documents as a site, or man pages of all commands.

    The site needs no network, neither to build nor to read: open its index.html. Its search needs a
    web server, such as `python3 -m http.server -d build/site`. The build fails if a page links to
    something that is not there.

    \b
    Examples: vas docs
              vas docs --man ~/.local/share/man/man1
    """
    if man_directory is not None:
        files = write_man_pages(vas, "vas", own_version(), man_directory)
        first = man_directory / "vas.1"
        note(f"{man_directory}: {len(files)} pages; begin with `man {first}`, which lists them")
        return
    program = Path(sys.executable).with_name("mkdocs")
    pages = build_site(REPOSITORY, program, REPOSITORY / "build", site.resolve())
    note(f"{len(pages)} pages; open {site / 'index.html'}")
