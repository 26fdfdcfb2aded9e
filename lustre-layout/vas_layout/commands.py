"""`vas layout`: who owns a byte of a Lustre file, and files whose splits have one owner."""

from __future__ import annotations

import click

from vas_core.lazy import LazyGroup
from vas_layout.command.decode import decode_command
from vas_layout.command.fix import fix
from vas_layout.command.locality import locality
from vas_layout.command.locate import locate
from vas_layout.command.plan import plan
from vas_layout.command.put import put_command
from vas_layout.command.show import show


@click.group(cls=LazyGroup)
def layout() -> None:
    """Show, explain and set the stripe layouts of Lustre files."""


for command in (show, decode_command, locate, locality, plan, put_command, fix):
    layout.add_command(command)
