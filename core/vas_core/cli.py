"""The frame of the `vas` command: finds each room's commands, maps errors to exit statuses."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from importlib.metadata import EntryPoint, entry_points, version
from typing import Any, NoReturn

import click
from rich.console import Console
from rich.table import Table

from vas_core.errors import ExitStatus, VasError
from vas_core.sizes import parse_size

ENTRY_POINT_GROUP = "vas.commands"
_HELP_LINE_CHARS = 58  # what fits beside a command's name in 80 columns


class RoomGroup(click.Group):
    """The top-level group. Entry points are named `room.command`; help is grouped by room."""

    def _by_command(self) -> dict[str, EntryPoint]:
        return {e.name.split(".", 1)[1]: e for e in entry_points(group=ENTRY_POINT_GROUP)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._by_command())

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        entry = self._by_command().get(name)
        if entry is None:
            return None
        command = entry.load()
        if not isinstance(command, click.Command):
            raise TypeError(f"entry point {entry.name} is not a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        rooms: dict[str, list[tuple[str, str]]] = {}
        for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda e: e.name):
            room, name = entry.name.split(".", 1)
            command = self.get_command(ctx, name)
            assert command is not None
            rooms.setdefault(room, []).extend(_help_lines(name, command))
        for room, lines in rooms.items():
            with formatter.section(f"{room}/"):
                formatter.write_dl(lines)


def _help_lines(name: str, command: click.Command) -> Iterable[tuple[str, str]]:
    if isinstance(command, click.Group):
        for sub in sorted(command.commands):
            yield f"{name} {sub}", command.commands[sub].get_short_help_str(_HELP_LINE_CHARS)
    else:
        yield name, command.get_short_help_str(_HELP_LINE_CHARS)


@click.group(
    cls=RoomGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(version("vas"), prog_name="vas")
def vas() -> None:
    """VAS ships analytics to the data: MapReduce on the storage servers of a Lustre file system.

    Exit status: 0 done, 1 failed, 2 bad usage or input, 3 verified and found different,
    77 skipped because this machine lacks what the command needs.
    """


class SizeType(click.ParamType[int]):
    """A click parameter that takes `64M` or `1GiB` and gives bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        try:
            return parse_size(value)
        except VasError as wrong:
            self.fail(str(wrong), param, ctx)


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON on stdout.")


def print_json(value: Any) -> None:
    """Prints one JSON document on stdout, keys in the order given."""
    click.echo(json.dumps(value, indent=2, ensure_ascii=False))


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints a table on stdout. Columns whose cells are all numbers are right-aligned.

    Written to a file or a pipe it is never wrapped or cut.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    table = Table(box=None, pad_edge=False, header_style="bold")
    for index, column in enumerate(columns):
        numeric = all(_is_number(row[index]) for row in cells)
        table.add_column(column, justify="right" if numeric and cells else "left", no_wrap=True)
    for row in cells:
        table.add_row(*(_escape(cell) for cell in row))
    width = None if sys.stdout.isatty() else 10_000
    console = Console(width=width, highlight=False)
    console.print(table, crop=False, overflow="ignore", soft_wrap=True)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace(",", "").rstrip("%").isdigit() or text in ("", "-")


def _escape(text: str) -> str:
    # A file name may hold anything: control characters are shown, never sent to a terminal.
    shown = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return shown.replace("[", "\\[")


def note(text: str) -> None:
    """Says something to the user on stderr, so that stdout stays data."""
    click.echo(text, err=True)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Runs a command and exits with its status."""
    sys.exit(run_command(arguments))


def run_command(arguments: Sequence[str] | None = None) -> int:
    """Runs a command and returns its exit status; every error is one message on stderr."""
    try:
        result = vas.main(args=arguments, prog_name="vas", standalone_mode=False)
        return int(result) if isinstance(result, int) else ExitStatus.DONE
    except VasError as error:
        note(f"vas: {error}")
        return error.exit_status
    except click.ClickException as error:
        error.show()
        return ExitStatus.BAD_INPUT
    except (click.Abort, KeyboardInterrupt):
        note("vas: interrupted")
        return 130
    except BrokenPipeError:
        # The reader of a pipe went away (`vas ... | head`): nothing is left to say to it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitStatus.DONE
