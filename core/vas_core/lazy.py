"""Command groups whose commands are imported when they are run, so that `--help` is quick."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import click

LINE_CHARS = 200
"""The most letters of a command's line in help: a first sentence is shown whole."""


@dataclass(frozen=True)
class Later:
    """A command that is not imported yet: `module:attribute`, and its line in the group's help."""

    target: str
    help: str


_NONE: Mapping[str, Later] = {}


class LazyGroup(click.Group):
    """A group that knows names and help lines of commands before it imports them.

    Its help shows each line whole, where click's own groups cut a line at the terminal's width.
    A test compares each line with the command's own short help (`core/tests/test_lazy.py`).
    """

    def __init__(self, *args: Any, later: Mapping[str, Later] = _NONE, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._later = later

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *self._later})

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in self._later:
            return super().get_command(ctx, name)
        module, _, attribute = self._later[name].target.partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command), name
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(self.help_lines()))

    def help_lines(self) -> list[tuple[str, str]]:
        """Returns each command's name and help line, without importing the commands of `_later`."""
        here = {name: c.get_short_help_str(LINE_CHARS) for name, c in self.commands.items()}
        return sorted((here | {name: late.help for name, late in self._later.items()}).items())
