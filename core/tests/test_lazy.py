"""Groups that import their commands when they are run."""

from __future__ import annotations

from importlib.metadata import entry_points

import click
import pytest

from vas_core.cli import ENTRY_POINT_GROUP
from vas_core.lazy import LINE_CHARS, Later, LazyGroup

_CHARS = 58
_GROUPS = [
    pytest.param(entry, id=entry.name)
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: entry.name)
]


@pytest.mark.parametrize("entry", _GROUPS)
def test_help_lines_are_the_commands_own(entry) -> None:  # type: ignore[no-untyped-def]
    group = entry.load()
    if not isinstance(group, LazyGroup):
        return
    context = click.Context(group)
    for name, line in group.help_lines():
        command = group.get_command(context, name)
        assert command is not None
        chars = LINE_CHARS if name in group.commands else _CHARS
        assert command.get_short_help_str(chars) == line, name


@pytest.mark.parametrize("entry", _GROUPS)
def test_no_line_of_a_groups_help_is_cut(entry) -> None:  # type: ignore[no-untyped-def]
    group = entry.load()
    if isinstance(group, click.Group):
        usage, *lines = group.get_help(click.Context(group, terminal_width=80)).splitlines()
        assert usage and not [line for line in lines if line.endswith("...")]


def test_nothing_is_imported_for_help() -> None:
    group = LazyGroup("group", later={"x": Later("no_such_module:x", "Do a thing.")})
    assert group.list_commands(click.Context(group)) == ["x"]
    assert group.help_lines() == [("x", "Do a thing.")]
    with pytest.raises(ImportError):
        group.get_command(click.Context(group), "x")
