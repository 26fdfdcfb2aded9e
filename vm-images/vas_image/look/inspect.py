"""The command `vas image inspect`."""

from __future__ import annotations

from pathlib import Path

import click

from vas_core.cli import json_option, note, print_json
from vas_core.errors import ExitStatus
from vas_core.shown import counted
from vas_core.sizes import format_size
from vas_core.table import print_table
from vas_image.image import DISK, Image, check_sums, read_image
from vas_image.look.disk import opened
from vas_image.look.rules import ImageRule, rules


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@json_option
def inspect(directory: Path, as_json: bool) -> int:
    """Inspect an image without booting it.

    Shows its description, and checks whether its files are as they were built and may be copied:
    no secret, no machine-id, no password. Status 3 if a check fails. Mounts nothing.

    \b
    Examples: vas image inspect build/image/debian-12-quick
              vas image inspect build/image/debian-12-quick --json
    """
    image = read_image(directory)
    found = [
        ImageRule(f"{name} is whole", ok, "as built" if ok else "another content, or none")
        for name, ok in check_sums(directory)
    ]
    with opened(directory / DISK) as root:
        found += rules(root)
    if as_json:
        rows = [vars(rule) for rule in found]
        print_json({**image.model_dump(mode="json"), "rules": rows})
    else:
        note(_line(directory, image))
        rows_of_rules = (("ok" if r.ok else "--", r.name, r.found) for r in found)
        print_table(("", "WHAT", "FOUND"), rows_of_rules)
    return ExitStatus.DONE if all(rule.ok for rule in found) else ExitStatus.DIFFERENT


def _line(directory: Path, image: Image) -> str:
    size = format_size((directory / DISK).stat().st_size)
    whole = format_size(image.virtual_bytes)
    return (
        f"{directory}: {image.system}, by {image.builder}, {size} ({whole} unpacked), "
        f"{counted(image.packages, 'package')}, {counted(image.jars, 'jar')}"
    )
